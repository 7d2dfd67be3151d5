"""Holds the contract's vocabulary, which costs no import, together with the wire package, which does."""

from pinctl.model.contract import CASES, FIELDS, FORMS
from pinctl.wire.cases import CASES as VALUES
from pinctl.wire.forms import FORMS as ENCODERS
from pinctl.wire.forms import FieldName


def test_every_case_that_a_plan_may_name_has_values() -> None:
    assert set(CASES) == set(VALUES)


def test_every_field_of_the_contract_crosses_in_some_form() -> None:
    assert set(FIELDS) <= set(FieldName)


def test_every_form_that_a_plan_may_name_has_an_encoder() -> None:
    assert tuple(ENCODERS) == FORMS
