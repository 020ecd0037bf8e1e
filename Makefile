# SPDX-License-Identifier: Apache-2.0
# The commands of a checkout. Each sets up what is missing first, so that any one may be the first to run.
JOBS ?= $(shell nproc)
TOLLBAR = .venv/bin/tollbar
PREFIX ?= /usr/local

.PHONY: dist docs packages build setup wheels library install uninstall demo results test test-deep bench lint clean help
.NOTPARALLEL:

build: setup  ## build everything whose libraries are present; the command is .venv/bin/tollbar
	@. scripts/cached; test build/release/build.ninja -nt build/setup/installed || cmake --preset release
	@. scripts/cached; cmake --build --preset release -j $(JOBS)
	@scripts/link

setup:  ## install what is missing (Debian packages, .venv); PACKAGES=needed, demo or none installs fewer
	@PACKAGES=$(PACKAGES) scripts/setup

wheels: setup  ## install the MPIs that come as Python wheels (150 MB) into build/mpi
	@scripts/mpi_wheels

library:  ## build the library alone, into build/library; installs nothing, needs a compiler and cmake
	@cmake -B build/library -DTOLLBAR_TESTS=OFF -DTOLLBAR_BENCH=OFF -DTOLLBAR_PYTHON=OFF -DTOLLBAR_DOORS=OFF -DCMAKE_UNITY_BUILD=ON
	@cmake --build build/library -j $(JOBS)

install: build  ## the command, the libraries, the headers into PREFIX (default /usr/local); EXTRAS=bench adds statistics
	@scripts/install "$(PREFIX)" $(EXTRAS)

uninstall:  ## remove from PREFIX what make install has put there
	@scripts/uninstall "$(PREFIX)"

demo:  ## measure today's barriers and tollbar's on this machine, store the fastest, write the report
	@PACKAGES=$(PACKAGES) JOBS=$(JOBS) scripts/demo

bench: build wheels  ## the full measurement (minutes), results under build/results
	$(TOLLBAR) bench threads
	$(TOLLBAR) bench threads --beside all
	$(TOLLBAR) bench threads --cpus 1
	$(TOLLBAR) bench mpi
	$(TOLLBAR) bench hybrid
	$(TOLLBAR) bench shmem

results: build wheels  ## measure everything that runs here (an hour), store it, fill the pages
	@scripts/results measure

test: setup wheels  ## the tests that every change waits for
	@JOBS=$(JOBS) scripts/test

test-deep: setup wheels  ## the tests that take longer: mutants, model checker, packaging, schedules
	@scripts/packages tools
	@JOBS=$(JOBS) scripts/test deep

dist:  ## the source tarball of the last commit, into build/packages
	@scripts/packages dist

packages: setup  ## the Debian packages, into build/packages
	@scripts/packages tools
	@scripts/packages debian

docs: build  ## the reference site, into build/site, and the man pages, into build/man
	@scripts/docs tools
	@scripts/docs

lint: setup  ## check format, lint, types and layers
	@JOBS=$(JOBS) scripts/lint

clean:  ## remove what was built; .venv and the results stay
	@for folder in dev release tsan asan wheel test setup; do rm -rf build/$$folder; done
	@rm -f python/tollbar/_native*.so lab/python/tollbar_lab/_native*.so

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{ printf "make %-11s%s\n", $$1, $$2 }'
