/* SPDX-License-Identifier: Apache-2.0
 * The watch, which is in the same library, says what is asked of it in this process. */
#ifndef TOLLBAR_DOORS_PMPI_WANTED_H
#define TOLLBAR_DOORS_PMPI_WANTED_H

#ifdef __cplusplus
extern "C" {
#endif

/* Whether a time-out or an account has the calls watched, of an MPI that this library fits: the same at any time. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
__attribute__((cold)) int tollbar_is_wanted(void);

/* Whether an account is asked for. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
int tollbar_is_accounted(void);

/* Whether this process reports its missing ranks: a barrier need not. Other doors find this by its name. */
/* NOLINTNEXTLINE(modernize-redundant-void-arg): C needs it */
int tollbar_mpi_is_watched(void);

#ifdef __cplusplus
}
#endif

#endif
