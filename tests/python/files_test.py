# SPDX-License-Identifier: Apache-2.0
"""Files that somebody has named are written, and nothing but files is replaced."""

import os
import stat
import subprocess
import sys
import threading

import pytest
from tollbar import files
from tollbar.machine import kernel


def test_a_new_file_is_written_and_an_old_one_replaced_with_its_mode(tmp_path):
    file = tmp_path / "page"
    for content in ("first", b"second"):
        files.write(file, content)
        file.chmod(0o640)
    assert file.read_bytes() == b"second"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["page"]


def test_a_link_stays_one_and_its_target_is_written(tmp_path):
    target, link, later = tmp_path / "target", tmp_path / "link", tmp_path / "later"
    target.write_text("old")
    link.symlink_to("target")
    later.symlink_to("absent")
    for each in (link, later):
        files.write(each, "new")
        assert each.is_symlink()
    assert target.read_text() == (tmp_path / "absent").read_text() == "new"


def test_a_second_name_of_the_file_sees_what_was_written(tmp_path):
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_text("old")
    other.hardlink_to(file)
    files.write(file, "new")
    assert other.read_text() == "new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    files.write(pipe, "page")
    reader.join(60)
    assert found == ["page"]
    assert pipe.is_fifo()


@pytest.mark.skipif(os.geteuid() != 0, reason="devices are made by root alone")
def test_a_device_is_written_to_and_stays_one(tmp_path):
    device = tmp_path / "full"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        device.open("wb").close()
    except PermissionError as error:
        pytest.skip(f"no devices here: {error}")
    with pytest.raises(OSError, match="No space left on device") as failed:
        files.write(device, "page")
    assert failed.value.filename == str(device)
    assert stat.S_ISCHR(device.stat().st_mode)


def test_our_own_output_is_written_in_place(tmp_path):
    words = "from tollbar import files; files.write('/dev/stdout', 'page, '); print('said')"
    for place in (subprocess.PIPE, (tmp_path / "out").open("wb")):
        done = subprocess.run([sys.executable, "-c", words], stdout=place, text=True, check=True)
        assert (done.stdout or (tmp_path / "out").read_text()) == "page, said\n"


def test_a_folder_is_named_and_nothing_is_left_in_it_or_beside_it(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as failed:
        files.write(folder, "page")
    assert failed.value.filename == str(folder)
    assert list(tmp_path.rglob("*")) == [folder]


@pytest.mark.skipif(kernel.lacking(*kernel.NAMESPACES), reason="no file system can be mounted here")
def test_of_a_file_that_has_no_room_nothing_is_left_and_the_old_one_stays(tmp_path):
    program = (
        "import os, sys; from tollbar import files\n"
        "files.write('page', 'old')\n"
        "try: files.write('page', b'x' * 100_000)\n"
        "except OSError as error: print(error.strerror, error.filename, os.listdir(), open('page').read())\n"
    )
    command = 'mount -t tmpfs -o size=4k none "$1" && cd "$1" && exec "$2" -c "$3"'
    words = ["unshare", "-m", "sh", "-c", command, "sh", tmp_path, sys.executable, program]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout == "No space left on device page ['page'] old\n"
