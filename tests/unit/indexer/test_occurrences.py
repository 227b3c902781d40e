"""Occurrences of a name: where they are and what they do there."""

from __future__ import annotations

import pytest

from sightline_core.limits import Limits
from sightline_indexer.occurrences import OccurrenceRole, find_occurrences

# Each line of a case holds `target` once or not at all; the role expected of it stands behind the bar.
CASES = {
    "python": """
from shop import target                | import
class Child(target, metaclass=Meta):   | inheritance
    x = "target" # target              |
def target(a):                         | definition
    return a.target(1)                 | call
print(f"{target}")                     | other
value = [target, 1]                    | other
@target                                | call
def other(target_2, mytarget): pass    |
""",
    "javascript": """
import { target } from './x';          | import
class Child extends target {}          | inheritance
function target() {}                   | definition
new target();                          | call
a.b.target(1);                         | call
const s = `target ${1}`; // target     |
list.map(target);                      | other
const t = `${target}`;                 | other
""",
    "typescript": """
import type { target } from './x';     | import
interface A extends target {}          | inheritance
class B implements target<string> {}   | inheritance
let x: target;                         | other
target<number>(1);                     | call
""",
    "tsx": """
const a = <target size={1} />;         | call
""",
    "go": """
package p
import target "example.com/x"          | import
func target(a int) {}                  | definition
func f() { x.target(1) }               | call
func g() { target(2) }                 | call
type S struct { target }               | inheritance
var v target.Type                      | other
var w = "target" /* target */          |
""",
    "rust": """
use crate::target;                     | import
impl target for Point {}               | inheritance
fn target() {}                         | definition
fn f() { a::target(1); }               | call
fn g() { self.target(1); }             | call
fn h() { target!(1); }                 | call
fn i(x: target) {}                     | other
const S: &str = "target"; // target    |
""",
    "java": """
import com.example.target;             | import
class A extends target {               | inheritance
    void target() {}                   | definition
    void f() { this.target(1); }       | call
    Object g() { return new target(); } | call
    target field; // target            | other
    @target int annotated;             | call
}
interface B extends target {}          | inheritance
""",
    "c": """
#define USES(x) target(x)              | other
int target(int a) { return a; }        | definition
int f(void) { return target(1); }      | call
int (*g)(int) = &target;               | other
const char *s = "target"; /* target */ |
""",
    "cpp": """
using ns::target;                      | import
class A : public target {};            | inheritance
void B::target() {}                    | definition
void f() { ns::target<int>(1); }       | call
void g() { a->target(2); }             | call
target *pointer;                       | other
""",
    "csharp": """
using target;                          | import
class A : target {                     | inheritance
    void F() { this.target(1); }       | call
    object G() { return new target(); } | call
    target field;                      | other
}
""",
    "ruby": """
class A < target                       | inheritance
end
def target; end                        | definition
x.target(1)                            | call
s = "target" # target                  |
""",
    "php": """
<?php
use App\\target;                       | import
class A extends target {}              | inheritance
function target() {}                   | definition
$x->target(1);                         | call
$y = new target();                     | call
target(2);                             | call
$s = 'target'; // target               |
""",
    "kotlin": """
import a.target                        | import
class A : target()                     | inheritance
fun target() {}                        | definition
fun f() { x.target(1) }                | call
val s = "target" // target             |
""",
    "bash": """
target() { :; }                        | definition
target one two                         | call
echo "target" # target                 |
""",
}


def split_case(text: str) -> tuple[str, dict[int, str]]:
    lines = text.strip("\n").split("\n")
    parts = [line.rpartition("|") if "|" in line else (line, "", "") for line in lines]
    roles = {number: role.strip() for number, (_, _, role) in enumerate(parts, 1) if role.strip()}
    return "\n".join(code.rstrip() for code, _, _ in parts) + "\n", roles


@pytest.mark.parametrize("language", CASES)
def test_occurrences_have_the_role_that_their_place_gives_them(language: str) -> None:
    source, expected = split_case(CASES[language])
    found = find_occurrences(source.encode(), language, "target", Limits())
    assert {o.position.line: o.role.value for o in found} == expected
    lines = source.split("\n")
    for o in found:
        assert lines[o.position.line - 1][o.position.column - 1 : o.end_column - 1] == "target"


def test_columns_of_occurrences_count_code_points() -> None:
    source = 'größe = "ä"; größe(größe)\n'.encode()
    found = find_occurrences(source, "python", "größe", Limits())
    assert [(o.position.column, o.end_column, o.role) for o in found] == [
        (1, 6, OccurrenceRole.DEFINITION),
        (14, 19, OccurrenceRole.CALL),
        (20, 25, OccurrenceRole.OTHER),
    ]


def test_name_that_does_not_occur_has_no_occurrences() -> None:
    assert find_occurrences(b"x = 1\n", "python", "y", Limits()) == ()
    assert find_occurrences(b"x = 1\n", "python", "", Limits()) == ()


def test_occurrences_stop_at_the_limit() -> None:
    found = find_occurrences(b"x\n" * 50, "python", "x", Limits(max_occurrences_per_file=7))
    assert len(found) == 7


def test_language_without_symbol_rules_is_refused() -> None:
    with pytest.raises(LookupError):
        find_occurrences(b"x", "json", "x", Limits())
