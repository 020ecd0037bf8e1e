# SPDX-License-Identifier: Apache-2.0
"""Comments in src and include: each sentence starts with the thing it is about."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADLESS = re.compile(r"(?:Who|Whose|What|Where|Of|Those)\b")


def comments_of(text: str) -> list[str]:
    """The prose of a C or C++ text: `//` lines that follow each other are one comment."""
    blocks = re.findall(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+|//[^\n]*", text, re.DOTALL | re.MULTILINE)
    blocks = [re.sub(r"SPDX-License-Identifier: \S+", "", block) for block in blocks]
    bare = (re.sub(r"^\s*(?://+<?|/?\*+/?<?)|\*/", " ", block, flags=re.MULTILINE) for block in blocks)
    return [re.sub(r"\s+", " ", comment) for comment in bare]


def headless_sentences(text: str) -> list[str]:
    sentences = (part.strip() for comment in comments_of(text) for part in re.split(r"(?<=[.:!?]) (?=[A-Z])", comment))
    return [sentence for sentence in sentences if HEADLESS.match(sentence)]


def test_comments_start_with_the_thing_they_are_about():
    sources = [path for top in ("src", "include") for path in (ROOT / top).rglob("*.[ch]*")]
    assert len(sources) > 300
    assert [(path.name, sentence) for path in sources for sentence in headless_sentences(path.read_text())] == []


def test_a_sentence_without_its_thing_is_noticed():
    text = (
        "// SPDX-License-Identifier: X\n// Who.\n\n// The barrier's words.\nint a;  // one. Of those two\n"
        "/* What a rank\n * does. It waits. */\n"
    )
    assert headless_sentences(text) == ["Who.", "Of those two", "What a rank does."]
