import pytest

from unshuffle.text.split import looks_english


@pytest.mark.parametrize(
    "text",
    [
        "The rain fell all night, and by morning the river was so high that the bridge had to be closed.",
        "Mix the flour and the salt. Add water to the bowl and knead the dough until it is smooth.",
        "Zu kurz.",
        "Los Angeles beat San Diego. Las Vegas lost.",
        "Oscar de la Hoya won. Ludwig von Mises lost.",
        "Preheat oven. Whisk eggs. Add crème fraîche. Serve chili con carne.",
        "Je ne sais quoi.",
        "Tom laughed. Anna cried.",
        "El Niño arrived. São Paulo flooded.",
        "",
        "12 + 30 = 42 🙂",
    ],
)
def test_english_and_what_cannot_be_told_passes(text: str) -> None:
    assert looks_english([text])


@pytest.mark.parametrize(
    "text",
    [
        "Die Katze sitzt auf dem Dach und schaut in den Garten. Am Abend kommt der Nachbar und bringt ihr Milch.",
        "Le chat est assis sur le toit et regarde le jardin. Le soir, le voisin arrive et lui apporte un bol de lait.",
        "El gato está sentado en el tejado y mira el jardín. Por la noche llega el vecino y le trae un plato de leche.",
        "Kot siedzi na dachu i patrzy na ogród. Wieczorem przychodzi sąsiad i przynosi mu miskę mleka. Wraca do domu.",
        "Sie aß ihn. Mia pflückte einen Apfel. Sie wusch den Apfel.",
        "Luego se la comió. Mia cogió una manzana. Lavó la manzana.",
        "Mia lava une pomme. Puis elle la mange avec Tom.",
        "Кот сидит на крыше.",
        "החתול יושב על הגג",
        "猫坐在屋顶上。",
    ],
)
def test_other_languages_are_noticed(text: str) -> None:
    assert not looks_english([text])
