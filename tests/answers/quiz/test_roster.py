"""A class list: names with the columns that a school's system knows them by, and variants dealt in equal numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassformer.answers.quiz.roster import Roster, Student, numbered, read_roster, roster_from
from glassformer.errors import GlassformerError


def listed(tmp_path, text):
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    return read_roster(tmp_path / "class.csv")


def test_one_name_per_line(tmp_path):
    assert listed(tmp_path, "Ada Lovelace\n\n  Zoë  \n字\n").names == ("Ada Lovelace", "Zoë", "字")


def test_a_gradebook_that_canvas_exported_keeps_its_columns(tmp_path):
    text = (
        "Student,ID,SIS User ID,SIS Login ID,Section,Quiz 1 (12)\n    Points Possible,,,,,5\n"
        '"Lovelace, Ada",11,u11,ada@x.org,A,\nBo,12,u12,bo@x.org,B,\n'
    )
    roster = listed(tmp_path, text)
    assert roster.names == ("Lovelace, Ada", "Bo")
    assert roster.student("Bo").field("SIS Login ID") == "bo@x.org"
    assert roster.find("ada lovelace") == roster.find("U11") == ("Lovelace, Ada",)


def test_a_list_of_moodle_has_first_and_last_names(tmp_path):
    roster = listed(tmp_path, "First name,Last name,ID number,Email address\nAda,Lovelace,7,ada@x.org\n")
    assert roster.names == ("Ada Lovelace",)
    assert roster.find("ada@x.org") == ("Ada Lovelace",)


@pytest.mark.parametrize(
    ("text", "message"), [("", "contains 0 names"), ("Ada\nBo\nAda\n", "contains 'Ada' twice"), ("a\n" * 6000, "6,000 names")]
)
def test_an_invalid_list_is_refused(tmp_path, text, message):
    with pytest.raises(GlassformerError, match=message):
        listed(tmp_path, text)


@given(st.integers(1, 60), st.integers(1, 26), st.integers(0, 99))
def test_variants_are_assigned_evenly_whatever_the_order_of_the_list(students, count, seed):
    roster = numbered(students)
    dealt = {student.name: student.variant for student in roster.dealt(count, seed)}
    sizes = [list(dealt.values()).count(letter) for letter in set(dealt.values())]
    assert max(sizes) - min(sizes) <= 1
    assert len(sizes) == min(count, students)
    turned = Roster(tuple(reversed(roster.students))).dealt(count, seed)
    assert {student.name: student.variant for student in turned} == dealt


def test_a_class_is_written_and_read_back():
    roster = Roster((Student("Ada", "B", {"ID": "7"}), Student("Bo", "A")))
    again = roster_from([student.to_dict() for student in roster])
    assert again == roster
    assert again.student("Ada").field("id") == "7"
    assert roster_from([{"name": 1}]) is None
    assert roster_from("Ada") is None
