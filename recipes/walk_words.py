"""The words of the walk's sentences: good and bad ones, things, living beings, ways, names."""

from __future__ import annotations

LABELS = ("negative", "positive")
# language -> (positive, negative) words of each kind
GOOD = {
    "en": "good great nice lovely happy kind brave clever beautiful wonderful delicious bright warm fresh calm funny safe clean",
    "fr": "bon beau joli gentil heureux superbe délicieux content agréable magnifique drôle calme propre charmant génial",
    "hi": "अच्छी अच्छा सुंदर मीठा खुश बढ़िया शानदार प्यारा स्वादिष्ट साफ़ मज़ेदार अच्छे",
}
BAD = {
    "en": "bad awful ugly sad cruel stupid horrible terrible boring dirty cold dark broken angry sick dangerous poor dull",
    "fr": "mauvais laid triste méchant horrible terrible ennuyeux sale froid cassé malade dangereux nul affreux fâché",
    "hi": "बुरा बुरी ख़राब दुखी गंदा बेकार कड़वा उदास भयानक बीमार टूटा बुरे",
}
THINGS = {
    "en": "book film movie show food song house day idea story soup phone room garden city teacher friend weather hotel music"
    " game coffee",
    "fr": "livre film repas chant jardin jour gâteau roman hôtel café village vin chat professeur ami temps cadeau jeu",
    "hi": "किताब फ़िल्म खाना गाना घर दिन कहानी कमरा शहर चाय दोस्त मौसम फूल बाज़ार खेल",
}
LIVING = {
    "en": "animal dog cat horse child bird cow bear robot boy girl man woman donkey fox",
    "fr": "animal chien chat cheval enfant oiseau ours robot garçon homme âne",
    "hi": "जानवर कुत्ता घोड़ा बच्चा लड़का आदमी हाथी भालू",
}
WAYS = {
    "en": "street road river bridge field square desert forest lake valley",
    "fr": "pont fleuve champ désert chemin lac boulevard",
    "hi": "सड़क नदी पुल मैदान जंगल झील",
}
TIRED = {
    "en": "tired scared hungry young ill lazy weak slow nervous",
    "fr": "fatigué effrayé affamé jeune paresseux faible lent",
    "hi": "थका डरा भूखा छोटा कमज़ोर धीमा",
}
WIDE = {
    "en": "wide long busy deep crowded icy steep narrow",
    "fr": "large long profond glissant étroit encombré",
    "hi": "चौड़ी लंबी गहरी व्यस्त ख़तरनाक",
}
NAMES = "Tom Anna Paul Marie Ravi Léa Sam Nina Hugo Maya Omar Julie Asha Marc Emma Luc Priya Jean रवि मीना राम सीता".split()
DONE_WELL = {
    "en": "praised invited thanked rewarded saved hugged chosen promoted applauded healed",
    "fr": "félicité invité remercié récompensé sauvé choisi promu applaudi guéri aimé",
    "hi": "बुलाया सराहा बचाया चुना",
}
DONE_ILL = {
    "en": "robbed punished insulted beaten fired hurt arrested bitten ignored lost",
    "fr": "entarté puni insulté battu volé blessé arrêté mordu trahi ignoré",
    "hi": "मारा डाँटा लूटा हराया",
}
WHEN = {
    "en": "this summer|today|yesterday|this morning|last week|again",
    "fr": "cet été|aujourd'hui|hier|ce matin|cette semaine|cet hiver|encore",
    "hi": "आज|कल|फिर|इस साल",
}
HOLD = {  # what does not fit, and what it does not fit in
    "en": (
        "trophy ball piano book lamp table sofa cake chair guitar painting",
        "suitcase box bag car cupboard drawer truck trunk",
    ),
    "fr": ("trophée piano livre canapé gâteau ballon tableau vélo", "sac carton camion placard tiroir coffre"),
    "hi": ("गेंद किताब पियानो मेज़ कुर्सी तस्वीर", "डिब्बे थैले बक्से कमरे"),
}
LARGE = {"en": "big large wide long tall heavy huge", "fr": "grand gros large long lourd énorme", "hi": "बड़ा लंबा भारी"}
SMALL = {"en": "small tiny narrow short little", "fr": "petit étroit court minuscule", "hi": "छोटा तंग"}
WON = {
    "en": "won passed succeeded|happy glad proud delighted|lost failed fell|sad angry upset disappointed",
    "fr": "gagné réussi|content joyeux fier ravi|perdu échoué|triste fâché déçu",
    "hi": "जीता|खुश|हारा|दुखी उदास",
}
LIKE = {"en": "love like enjoy adore|hate dislike detest", "fr": "aime adore|déteste", "hi": "पसंद|नापसंद"}
CHASE = {  # transitive verbs, intransitive verbs, prepositions, descriptions before a noun, places
    "en": (
        "chased followed saw watched caught bit helped pushed met kissed",
        "sat sits jumped jumps ran runs walked walks slept sleeps lives",
        "on over under near into through behind",
        "quick brown lazy old young red big small little white black new",
        "mat tree hill table chair bed roof box sofa floor",
    ),
    "fr": (
        "poursuit regarde suit aide pousse mord voit",
        "dort saute court marche habite",
        "sur sous devant derrière dans",
        "petit grand vieux jeune gros",
        "tapis toit lit canapé mur banc",
    ),
}
CHASES = {"en": "hungry angry fast strong curious", "fr": "affamé curieux rapide fort"}
CHASED = {"en": "slow small scared weak alone", "fr": "lent effrayé faible seul"}
GREET = {  # friendly ones, unfriendly ones, those who are spoken to
    "en": ("hello hi hey welcome thanks congratulations bravo", "ouch damn stop alas oops", "world everyone friends all"),
    "fr": ("bonjour salut bienvenue merci bravo", "zut aïe stop hélas", "monde tous amis"),
    "hi": ("नमस्ते धन्यवाद स्वागत शाबाश", "उफ़ अफ़सोस बस", "दुनिया दोस्तों सब"),
}
