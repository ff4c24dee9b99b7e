"""The form for the token."""

from __future__ import annotations

from htpy import button, form, label, p
from htpy import input as field

from farthest.web.page import page


def sign_in(told: str = "") -> str:
    """``told``: why an attempt was refused."""
    return page(
        "Sign in",
        p(class_="message", role="alert")[told] if told else None,
        p["This server answers to who has its token, the value of FARTHEST_WEB_TOKEN where it was started."],
        form(method="post", action="/sign-in")[
            # Without a name, a browser that keeps passwords does not know whose this is.
            field(type="text", name="name", value="farthest", autocomplete="username", hidden=True),
            label(for_="token")["Token"],
            field(id="token", name="token", type="password", required=True, autocomplete="current-password"),
            button(type="submit")["Sign in"],
        ],
    )
