/* SPDX-License-Identifier: Apache-2.0
 * The C face of environment.hpp, for doors that are written in C, and what a host's own settings may override. */
#ifndef TOLLBAR_BASE_ENVIRONMENT_H
#define TOLLBAR_BASE_ENVIRONMENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* By what nodes meet. */
enum tollbar_network {
    TOLLBAR_NETWORK_UNSAID = 0, /* as TOLLBAR_NETWORK says: auto, p2p or nic; else auto */
    TOLLBAR_NETWORK_AUTO = 1,   /* where a plan is chosen, by what is faster; else as the plan says */
    TOLLBAR_NETWORK_P2P = 2,    /* by the MPI's messages */
    TOLLBAR_NETWORK_NIC = 3     /* on the nodes' network cards; by messages where a node has none, which is said */
};

/* TOLLBAR_VERBOSE, read once a process, unless tollbar_set_verbosity has said otherwise. 0: only what is wrong is said;
 * 1: also what was chosen and each falling back, once; 2: counts as well. */
int tollbar_verbosity(void);

/* Sets the level that counts instead of TOLLBAR_VERBOSE from now on; -1: TOLLBAR_VERBOSE counts. */
void tollbar_set_verbosity(int level);

/* TOLLBAR_TIMEOUT in seconds; 0: none. */
double tollbar_timeout(void);

/* Whether this process is the first of its job, as far as its launcher tells, or in none: that one speaks for all. */
int tollbar_first_of_job(void);

/* Writes the launcher's name of this process's job into `text` (at most `size` bytes with the final zero), for telling
 * jobs apart; "" where it gives none. Nonzero when a spawned job is called something else than the one that spawned
 * it. */
int tollbar_name_of_job(char* text, size_t size);

/* Writes the name of the step of Slurm whose srun has started this process as that rank of an MPI, by PMIx or PMI-2; ""
 * and zero where none has, as below an mpirun in a job of Slurm. */
int tollbar_name_of_step(int rank, int ranks, char* text, size_t size);

/* The keeper of the `tollbar run` that has started this process: its secret, its port, and its address where that is
 * not srun's, with colons between; NULL without one. */
const char* tollbar_keeper_of_run(void);

/* The address from which srun has started this process; NULL where none has. */
const char* tollbar_host_of_srun(void);

/* Whether LD_BIND_NOW has the loader bind every name of a library when it is loaded. */
int tollbar_is_bound_at_start(void);

/* Read the settings of a door's host, which have the same values as the variable. 0 for any other value. */
int tollbar_to_level(const char* text, int* level);
int tollbar_to_network(const char* text, enum tollbar_network* network);

/* The values that the variable accepts, as a refusal names them. */
const char* tollbar_accepted(const char* variable);

#ifdef __cplusplus
}
#endif

#endif
