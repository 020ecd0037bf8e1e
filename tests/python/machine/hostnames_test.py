# SPDX-License-Identifier: Apache-2.0
"""Many names of hosts in one word, and back."""

import pytest
from tollbar.machine import hostnames

WORDS = {
    "n1": ["n1"],
    "n[1-3,7],login": ["n1", "n2", "n3", "n7", "login"],
    "n[08-11]x": ["n08x", "n09x", "n10x", "n11x"],
    "a,b": ["a", "b"],
}


@pytest.mark.parametrize(("word", "names"), WORDS.items())
def test_a_word_stands_for_names_and_names_fold_into_it(word, names):
    assert hostnames.expanded(word) == names
    assert hostnames.folded(names) == word


def test_each_name_counts_once_and_names_fold_by_their_last_number():
    assert hostnames.expanded("r[1-2]n[1-2]") == ["r1n1", "r1n2", "r2n1", "r2n2"]
    assert hostnames.folded(["r1n1", "r1n2", "r1n2", "r2n1"]) == "r1n[1-2],r2n1"


@pytest.mark.parametrize("word", ["", "n[1-", "a,,b", "n[x]", "n[1-99999]", "n[]", "[1-200][1-200]"])
def test_what_is_no_list_of_hosts_is_refused(word):
    with pytest.raises(ValueError, match=r"is no list of hosts|are more than"):
        hostnames.expanded(word)
