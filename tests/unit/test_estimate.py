"""The estimate keeps its law on every string, and its edges on texts whose counts are known."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lockstitch.measure.estimate import CLASSES, Estimate, estimate, units, upper_edge

# Exact tokens of o200k_base, the class the text belongs to, the text.
SAMPLES = [
    (5, "prose", "Thanks, that works."),
    (13, "prose", "Please move my flight to Friday morning and keep the window seat."),
    (
        23,
        "prose",
        (
            "The build failed because the cache was stale. I cleared it, ran the tests "
            "twice, and both runs passed."
        ),
    ),
    (
        44,
        "prose",
        (
            "I could not find an order under that name. Could you check the e-mail address "
            "you used, or send me the number printed on the receipt? Either will do, and I "
            "can look it up again right away."
        ),
    ),
    (
        22,
        "prose",
        (
            "You are a careful assistant.\nAnswer in one short paragraph.\nNever guess: say "
            "what you do not know."
        ),
    ),
    (
        44,
        "foreign",
        (
            "Per favore controlla la prenotazione e dimmi se il volo parte ancora domani "
            "mattina, altrimenti dobbiamo trovare un altro modo per arrivare in tempo alla "
            "riunione con i clienti."
        ),
    ),
    (
        23,
        "latin",
        "Où est passée la clé ? J'ai cherché près de l'entrée, mais je n'ai rien trouvé.",
    ),
    (17, "latin", "Bitte prüfe die Größe der Lieferung und schreib mir, wann sie ankommt."),
    (21, "latin", "Proszę sprawdzić, dlaczego zamówienie jeszcze nie wyszło z magazynu."),
    (15, "latin", "Vui lòng kiểm tra lại đơn hàng của tôi trước buổi chiều."),
    (16, "alphabet", "Пожалуйста, проверьте, почему сборка опять упала ночью."),
    (14, "alphabet", "Παρακαλώ έλεγξε την παραγγελία μου."),
    (11, "alphabet", "من فضلك تحقق من موعد الرحلة غدا."),
    (11, "alphabet", "בבקשה בדוק את ההזמנה שלי."),
    (18, "indic", "कृपया मेरा ऑर्डर फिर से जाँचें और मुझे बताएं।"),
    (12, "indic", "กรุณาตรวจสอบคำสั่งซื้อของฉัน"),
    (11, "cjk", "请检查一下昨天的构建为什么失败了。"),
    (11, "cjk", "明日の会議の時間を教えてください。"),
    (8, "cjk", "내일 회의 시간을 알려 주세요."),
    (7, "rare", "🎉🚀👍🏽"),
    (27, "rare", "┌──────┬──────┐\n│ name │ size │\n└──────┴──────┘"),
    (6, "space", "        return\n\n\n            pass\n"),
    (5, "space", "a               b               c"),
    (10, "packed", "call_9f8a7b6c"),
    (24, "packed", "toolu_01Qx7LmWc3VbT9RkZpYh2NdS"),
    (32, "packed", "3f2b8c1e-94d7-4a60-b5e3-0c7d1f9a8e26"),
    (31, "packed", "9b74c9897bac770ffc029102a200c5de7f1f3c8e5a6b4d20"),
    (51, "packed", "TG9ja3N0aXRjaCBrZWVwcyBhIGNvbnZlcnNhdGlvbiB3aG9sZSwgYW5kIGxvc2VzIG5vdGhpbmcu"),
    (1, "name", "ok"),
    (1, "name", "Hello"),
    (2, "name", "get_weather"),
    (7, "name", "src/billing/invoice_renderer.py"),
    (12, "name", "https://example.org/guides/getting-started.html"),
    (20, "json", '{"city": "Oslo", "unit": "celsius", "days": 3}'),
    (20, "json", '{"path":"src/app.py","content":"print(\\"hi\\")\\n","overwrite":true}'),
    (
        41,
        "json",
        '[{"id": 17, "name": "bolt", "price": 0.25}, {"id": 18, "name": "nut", "price": 0.1}]',
    ),
    (7, "numbers", "12 + 30 = 42"),
    (22, "numbers", "3.14159, 2.71828, 1.41421, 1.73205"),
    (27, "log", "2031-04-05 06:07:08,091 INFO worker-3 finished job 5521 in 84 ms"),
    (
        44,
        "log",
        (
            "-rw-r--r-- 1 build build 5120 Jan 11 09:32 notes.txt\n-rw-r--r-- 1 build build "
            "77 Jan 11 09:40 todo.txt"
        ),
    ),
    (20, "code", "def area(radius: float) -> float:\n    return 3.14 * radius**2\n"),
    (18, "code", "for (const row of rows) {\n  total += row.price * row.count;\n}\n"),
    (24, "code", "<ul class='menu'><li><a href='/home'>Home</a></li></ul>\n<!-- the end -->"),
    (19, "code", "git commit -m 'fix: close the file' && git push --force-with-lease"),
]
TEXTS = st.text(alphabet=st.characters(codec=None), max_size=200) | st.text(
    alphabet='aB1 ."\n\u00e9\u4e2d', max_size=200
)


def size(text):
    return len(text.encode("utf-8", "surrogatepass"))


@given(TEXTS)
@example("")
@example("\ud800")
@example("\udfff lone \ud83d")
@example("\x00")
@example(" " * 40_000)
@example("a1" * 20_000)
def test_edges_stand_in_order_and_below_the_bytes(text):
    edges = estimate(text)
    assert 0 <= edges.low <= edges.high <= size(text)
    assert (edges.high == 0) == (text == "")
    assert upper_edge(text) == edges.high
    assert estimate(text) == edges


@given(TEXTS, TEXTS)
@example("0" * 50, "the" * 50)
@example("\u0c95" * 60, "the " * 60)
def test_a_joined_text_is_not_wildly_less_than_its_parts(first, second):
    # Units never shrink when text is added, and no class has twice the `high` of another; what a
    # short text's floor and spread add is less than three tokens beyond half.
    joined = upper_edge(first + second)
    assert joined >= max(upper_edge(first), upper_edge(second)) / 2 - 3


@given(TEXTS, TEXTS)
def test_units_never_shrink_when_text_is_added(first, second):
    whole, _, _ = units(first + second)
    assert whole >= max(units(first)[0], units(second)[0]) - 1e-6


def test_no_class_is_twice_as_wide_as_another():
    assert max(kind.high for kind in CLASSES) < 2 * min(kind.high for kind in CLASSES)


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.name)
def test_a_class_says_what_it_is_and_how_it_was_measured(kind):
    assert kind.what
    assert 0 < kind.low < 1 < kind.high
    assert kind.spread >= 0
    assert kind.floor >= 0
    assert kind.parts > 100
    assert kind.tokenizer == "o200k_base"


def test_class_names_are_distinct_and_all_are_reached():
    assert len({kind.name for kind in CLASSES}) == len(CLASSES)
    assert {name for _, name, _ in SAMPLES} == {kind.name for kind in CLASSES}


@pytest.mark.parametrize(("exact", "name", "text"), SAMPLES)
def test_a_typical_text_is_known_for_what_it_is(exact, name, text):
    assert estimate(text).content_class == name


def test_at_most_one_known_text_in_twenty_is_undercounted():
    under = [text for exact, _, text in SAMPLES if upper_edge(text) < exact]
    assert len(under) <= len(SAMPLES) / 20, under


def test_known_texts_are_not_overcounted_by_much():
    ratios = [upper_edge(text) / exact for exact, _, text in SAMPLES]
    assert statistics.median(ratios) <= 1.4
    assert max(ratios) <= 3


def test_the_low_edge_is_low():
    over = [text for exact, _, text in SAMPLES if estimate(text).low > exact]
    assert len(over) <= len(SAMPLES) / 20, over


@pytest.mark.parametrize(
    ("text", "exact"),
    [("", 0), ("a", 1), ("42", 1), ("yes", 1), ("{}", 1), ("null", 1), ("\n", 1), (" ", 1)],
)
def test_a_very_short_text_is_counted_within_two_tokens(text, exact):
    assert exact <= upper_edge(text) <= exact + 2


def test_the_empty_text_is_nothing():
    assert estimate("") == Estimate(0, 0, "prose")


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("qzjxkvwpyhmfgdbctn" * 50, 400),  # random letters, no space: about one token for two
        ("acgtgcatcgatgctagcat" * 50, 400),
        ("x7Qp" * 250, 600),
    ],
)
def test_letters_without_words_are_not_taken_for_words(text, least):
    assert upper_edge(text) >= least


@pytest.mark.parametrize("text", ["word and ", '{"k": 1}, ', "\u4e2d\u6587\u3002", "caf\u00e9 "])
def test_a_text_longer_than_one_chunk_counts_like_its_pieces(text):
    piece = text * 100
    pieces, _, name = units(piece)
    whole, _, same = units(piece * 100)
    assert same is name
    assert whole == pytest.approx(100 * pieces, rel=0.01)


def test_stored_counts_are_exact():
    rs_bpe = pytest.importorskip("rs_bpe", reason="the exact tokenizer is optional")
    encoding = rs_bpe.openai.o200k_base()
    assert [len(encoding.encode(text)) for _, _, text in SAMPLES] == [n for n, _, _ in SAMPLES]
