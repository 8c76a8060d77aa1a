"""Messages of a job: what one side sends, the other receives."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.encoding.jobs.messages import packed, receive, send, unpacked


@given(st.lists(st.text()))
def test_texts_arrive_as_they_were_sent(texts):
    file = io.BytesIO()
    send(file, *packed(texts))
    file.seek(0)
    assert unpacked(*receive(file)) == texts


@given(st.lists(st.text(st.characters()), min_size=1))
def test_halves_of_surrogate_pairs_arrive_too(texts):
    assert unpacked(*packed(texts)) == texts


def test_the_end_of_the_other_side_is_an_eof_error():
    with pytest.raises(EOFError):
        receive(io.BytesIO(b"\x05\0\0\0\0\0\0\0{}"))
