"""What is read from released scripts, and from lists of images."""

import pytest

import fairlib
from fairlib.recipes import czarnowska2021, released_scripts, suites

CELEBA = """for i in 7 39
do
    for j in 0 1 2 # number of runs per model
    do
        python3 classifier.py --model_name VGG16/$i --epochs 4 --batch-size 8 --lr .01
        python3 classifier.py --model_name AlexNet/$i --epochs 4 --batch-size 8 --lr .5
        python3 classifier.py --model_name r/$i --epochs 4 --batch-size 8 --lr .2 \
--weighting_ratio 1.5
    done
done
"""
FITBERT = """
        men_biased = ['cook', 'mover', 'guard']
        women_biased = ['nurse', 'baker']
    else:
        men_biased = ['cook', 'mover']
        women_biased = ['nurse']
    elif version == 10:
        adjectives = ['new', 'old', 'good']
        strings = ['WORD_A_0 is a WORD_B']
        more = ['WORD_A_0 was a WORD_B']
"""


@pytest.fixture
def released(tmp_path, monkeypatch):
    """Small scripts and lists in place of the genuine ones."""
    texts = {
        released_scripts.CELEBA: CELEBA,
        released_scripts.MASKS: "for i in {0..3}\ndo\n",
        released_scripts.FITBERT: FITBERT,
    }
    # The second of three images is listed twice.
    texts |= dict.fromkeys(released_scripts.IMAGES.values(), "1\n2\n2\n3\n")
    for file, text in texts.items():
        path = tmp_path / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(released_scripts, "original", lambda file: tmp_path / file.path)
    return tmp_path


def test_settings_are_read_from_the_scripts(released):
    table = released_scripts.released_settings()
    settings = table.set_index(["experiment", "setting"])["value"].to_dict()
    assert settings == {
        ("celeba_models", "runs"): 3,
        ("celeba_models", "architectures"): 2,
        ("celeba_models", "learning_rate/vgg16"): 0.01,
        ("celeba_models", "learning_rate/alexnet"): 0.5,
        ("celeba_models", "batch_size"): 8,
        ("celeba_models", "epochs"): 4,
        ("celeba_ratios", "ratio/1.5"): 1.5,
        ("celeba_ratios", "learning_rate/resnet18"): 0.2,
        ("masks", "runs"): 4,
        ("fitbert", "occupations_winobias"): 5,
        ("fitbert", "occupations"): 3,
        ("fitbert", "adjectives"): 3,
        ("fitbert", "templates"): 6,
        ("coco", "train_images"): 3,
        ("coco", "dev_images"): 3,
        ("coco", "test_images"): 3,
    }


def test_a_script_that_says_two_things_is_refused(released):
    path = released / released_scripts.CELEBA.path
    path.write_text(CELEBA.replace("--epochs 4", "--epochs 5", 1))
    with pytest.raises(ValueError, match=r"one value, found \['4', '5'\]"):
        released_scripts.released_settings()
    path.write_text("nothing")
    with pytest.raises(ValueError, match="script must match .* found 'nothing'"):
        released_scripts.released_settings()


def test_the_bundled_settings_are_those_of_the_paper_and_of_the_public_list():
    table = fairlib.load("released_settings", source="bundled")
    settings = table.set_index(["experiment", "setting"])["value"]
    assert settings["coco", "train_images"] == 22_966
    assert settings["celeba_models", "learning_rate/resnet18"] == 0.0001
    assert settings["celeba_ratios", "learning_rate/resnet18"] == 0.00014


@pytest.mark.parametrize(
    ("first", "second", "apart"),
    [
        ("a b c", "a b c", 0),
        ("a b c", "a x c", 1),
        ("a b c", "a c", 1),
        ("a b c", "c b a", 4),
        ("", "a b", 2),
    ],
)
def test_words_that_differ_are_counted(first, second, apart):
    assert czarnowska2021._words_apart(first, second) == apart


def test_printed_examples_are_counted_in_released_files(tmp_path, monkeypatch):
    for name in suites.ORIGINALS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("TEMPLATE\nNothing like it at all.\n")
    # A term too few for female, one too many for male.
    (tmp_path / "terms/identity_terms/gender.csv").write_text(
        "TERM,GROUP\nwoman,female\nman,male\nmale,male\nguy,male\n"
    )
    (tmp_path / "templates/people_templates.csv").write_text(
        "TEMPLATE\n{Person} feels fulfilled as a parent.\n"
        "{Person} received high-school diploma in 1990.\n"
    )
    paths = {file: tmp_path / name for name, file in suites.ORIGINALS.items()}
    monkeypatch.setattr(czarnowska2021, "original", paths.__getitem__)
    table = czarnowska2021.printed_examples().set_index(["table", "part"])
    assert table.loc[("Table 4", "female")].tolist() == [2, 1, 1]
    assert table.loc[("Table 4", "male")].tolist() == [2, 1, 1]
    assert table.loc[("Table 6", "names")].tolist() == [6, 2, 1]
    assert table.loc[("Table 6", "generic")].tolist() == [6, 0, 0]
