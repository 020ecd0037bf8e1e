# SPDX-License-Identifier: Apache-2.0
"""Barriers as plans: make them, prove them, price them under LogP, draw them.

>>> import tollbar
>>> plan = tollbar.plan("dissemination", 4)
>>> print(plan.text, end="")
0: !1 ?3 !2 ?2
1: !2 ?0 !3 ?3
2: !3 ?1 !0 ?0
3: !0 ?2 !1 ?1
>>> tollbar.verify(plan).holds
True
>>> tollbar.price(plan, tollbar.LogP(L=10, o=5, g=3)).last_us
40.0
"""

from tollbar._native import (
    Algorithm,
    LogP,
    Message,
    Plan,
    Price,
    Receive,
    Verdict,
    __version__,
    catalogue,
    combine,
    draw_svg,
    is_rooted,
    max_ranks,
    messages,
    parse_plan,
    plan,
    price,
    to_goal,
    unheard,
    verify,
)

__all__ = [
    "Algorithm",
    "LogP",
    "Message",
    "Plan",
    "Price",
    "Receive",
    "Verdict",
    "__version__",
    "catalogue",
    "combine",
    "draw_svg",
    "is_rooted",
    "max_ranks",
    "messages",
    "parse_plan",
    "plan",
    "price",
    "to_goal",
    "unheard",
    "verify",
]
