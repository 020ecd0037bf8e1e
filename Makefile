# SPDX-License-Identifier: Apache-2.0
# The commands of a checkout. Each sets up what is missing first, so that any one may be the first to run.
JOBS ?= $(shell nproc)
TOLLBAR = .venv/bin/tollbar
PREFIX ?= /usr/local

.PHONY: build setup wheels library install demo results test bench lint clean help
.NOTPARALLEL:

build: setup  ## build everything whose libraries are present; the command is .venv/bin/tollbar
	@test -e build/release/build.ninja || cmake --preset release
	@cmake --build --preset release -j $(JOBS)
	@scripts/link

setup:  ## install what is missing (Debian packages, .venv); PACKAGES=needed or none installs fewer
	@PACKAGES=$(PACKAGES) scripts/setup

wheels: setup  ## install the MPIs that come as Python wheels (150 MB) into build/mpi
	@scripts/mpi_wheels

library:  ## build the library alone, into build/library; installs nothing, needs a compiler and cmake
	@cmake -B build/library -DTOLLBAR_TESTS=OFF -DTOLLBAR_BENCH=OFF -DTOLLBAR_PYTHON=OFF -DTOLLBAR_DOORS=OFF -DCMAKE_UNITY_BUILD=ON
	@cmake --build build/library -j $(JOBS)

install: build  ## the command, the libraries, the headers into PREFIX (default /usr/local)
	@scripts/install "$(PREFIX)"

demo: build wheels  ## measure every barrier on this machine, name the best, write the report
	$(TOLLBAR) bench threads --budget 80
	$(TOLLBAR) bench company --quick
	$(TOLLBAR) bench mpi --quick
	$(TOLLBAR) bench hybrid --quick
	$(TOLLBAR) bench shmem --quick
	$(TOLLBAR) tune
	$(TOLLBAR) report

bench: build wheels  ## the full measurement (minutes), results under build/results
	$(TOLLBAR) bench threads
	$(TOLLBAR) bench company
	$(TOLLBAR) bench crowd
	$(TOLLBAR) bench mpi
	$(TOLLBAR) bench hybrid
	$(TOLLBAR) bench shmem

results: build wheels  ## measure everything that runs here (an hour), store it, fill the pages
	@scripts/results measure

test: setup wheels  ## build and run every test
	@JOBS=$(JOBS) scripts/test

lint: setup  ## check format and lint
	@JOBS=$(JOBS) scripts/lint

clean:  ## remove what was built; .venv and the results stay
	@for folder in dev release tsan asan wheel test setup; do rm -rf build/$$folder; done
	@rm -f python/tollbar/_native*.so

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{ printf "make %-8s%s\n", $$1, $$2 }'
