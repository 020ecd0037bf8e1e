/* SPDX-License-Identifier: Apache-2.0
 * The operations that all ranks know by one number: 1 for the first, 0 for one of the program's own. */
#ifndef TOLLBAR_MISSING_OPERATIONS_H
#define TOLLBAR_MISSING_OPERATIONS_H

/* With the name that the object behind it has in Open MPI. */
#define TOLLBAR_EACH_OPERATION(of)                                                                                \
    of(MAX, max) of(MIN, min) of(SUM, sum) of(PROD, prod) of(LAND, land) of(BAND, band) of(LOR, lor) of(BOR, bor) \
        of(LXOR, lxor) of(BXOR, bxor) of(MAXLOC, maxloc) of(MINLOC, minloc)

#endif
