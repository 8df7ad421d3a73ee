//! Spanish, Italian and Portuguese. Words for suicide are found by the English stem.

use super::rules::Language;

pub(super) const SPANISH: Language = Language { self_harm: SPANISH_SELF_HARM, danger: SPANISH_DANGER, idioms: SPANISH_IDIOMS };
pub(super) const ITALIAN: Language = Language { self_harm: ITALIAN_SELF_HARM, danger: ITALIAN_DANGER, idioms: ITALIAN_IDIOMS };
pub(super) const PORTUGUESE: Language =
    Language { self_harm: PORTUGUESE_SELF_HARM, danger: PORTUGUESE_DANGER, idioms: PORTUGUESE_IDIOMS };

const SPANISH_SELF_HARM: &[&str] = &[
    "matarme|ahorcarme|suicidarme|dispararme|autolesion*",
    "me quiero|voy|quisiera|quería ?a matar|morir|ahorcar|suicidar|cortar",
    "quiero|quisiera|prefiero|preferiría|ojalá|deseo|desearía|gustaría|querría|ganas ?de ?me morir|morirme|muera|muriera|muerta|muerto|desaparecer",
    "quiero|quisiera|preferiría|ojalá|mejor ~2 estar|estuviera|estuviese|estaría muerto|muerta",
    "quitarme la vida",
    "me quite|quité|quito la vida",
    "acabar|terminar con mi|todo ?propia ?vida|de",
    "no|ya ~2 quiero|puedo|deseo|tengo ~1 seguir|vivir|viviendo|existir|despertar|ganas ?de ?vivir|viviendo",
    "no ~2 quiero|puedo|tengo ?más ?ganas ?razones ?de ?para vivir|existir|despertar",
    "no despertar nunca|jamás|más",
    "vida no|ya ?no tiene|vale ?ningún ?la sentido|pena",
    "ojalá ~2 no ~2 nacido|despertara|existiera",
    "mejor ~2 sin mí",
    "cortarme|cortándome|cortado|me|corto ?corto|corté ~2 venas|brazos|muñecas|piernas",
    "hacerme|lastimarme|herirme daño|otra|a ?mí",
    "tomé|tomado|tragué|tragado|tomarme ~3 pastillas",
    "tirarme|saltar|lanzarme ~3 puente|tren|azotea|balcón|ventana",
    "cansado|cansada|harto|harta de vivir|la ?vida",
    "nadie me echaría|extrañaría|extrañará ?de ?menos",
];

const SPANISH_DANGER: &[&str] = &[
    "me|nos ~2 amenaza|amenazó|amenazado|amenazaron con|de matarme|matarnos|matar",
    "me|nos|te ~1 pega|golpea|golpeó|pegó|violó|violaron|viola|abusó|maltrata|amenaza|amenazó|estrangula|estranguló|apuñaló|ahorca|encierra",
    "me|nos ha|han|había ?estado pegado|golpeado|violado|maltratado|amenazado|agredido|apuñalado",
    "abusó|abusaron|abusa|abusado de|sexualmente mí|mi|de",
    "miedo a|de|que mi|me|nos ?@fam_es ?mate|pegue|mi|haga",
    "va|quiere|amenaza|amenazó|amenazado ?a|con matarme|matarnos|matar|golpearme",
    "él|ella|alguien|@fam_es ~1 intentó|quería|intentado matarme|matarnos|golpearme",
    "voy|quiero|podría ?a matarlo|matarla|matarlos|apuñalarlo|matar",
    "fui|sido|he ~1 violada|violado|agredida|maltratada|golpeada|secuestrada|abusada",
    "infarto|derrame",
    "ataque al corazón|cardíaco|cardiaco",
    "no ~1 puede|puedo|respira|consigo ?respirar",
    "inconsciente",
    "no ~1 despierta|reacciona",
    "sangrando|sangra|sangro ~1 mucho",
    "no|para ?para|deja de sangrar",
    "dolor ~3 pecho",
    "ambulancia",
    "bebió|tragó|tomó ~1 lejía|cloro|veneno|pila",
];

const SPANISH_IDIOMS: &[&str] = &[
    "morir|morirme|muero|muerto|muerta|moría|morirnos de ?la risa|hambre|sueño|vergüenza|frío|calor|sed|aburrimiento|ganas|miedo|envidia|amor|pena",
    "me mata|matan|matas|mató de|la|el|este|esta ?risa|rodilla|espalda|cabeza|tráfico|calor",
    "matar|matando|mata el|la|los|un ?buen tiempo|proceso|procesos|jefe ?final|hambre|rato|gusanillo",
    "me pega|pegó ?bien ?mucho|el|fuerte|con|este|esta sol|nada|camiseta|color|risa|ganas",
    "acabar|terminar con todo ~1 trabajo|pendiente|papeleo",
    "casi|por ~4 infarto|ataque ?al ?corazón",
    "de infarto",
    "suicidio político|profesional|comercial",
    "no quiero vivir en ?la|una|el|un|mi ciudad|piso|pueblo|casa|centro|madrid|barcelona|campo",
    "no quiero vivir cerca|lejos de",
    "no puedo respirar ?de|por ?la risa|mascarilla|nariz",
    "me|nos ~1 golpeó|amenaza|golpea ~1 noticia|realidad|lluvia|lluvias",
];

const ITALIAN_SELF_HARM: &[&str] = &[
    "uccidermi|ammazzarmi|impiccarmi|suicidarmi|autolesion*|tagliarmi",
    "mi voglio|vorrei|ammazzo|uccido|uccidere|ammazzare|impicco|taglio ?uccidere|ammazzare",
    "voglio|vorrei|preferirei|desidero|meglio|voglia ?di ?solo morire|morirei|morto|morta|sparire",
    "vorrei|voglio|fossi ?essere morto|morta",
    "togliermi la vita",
    "farla finita",
    "non|più ~2 voglio|vorrei|riesco|posso|voglia ~2 vivere|esistere|svegliarmi",
    "vita non ~1 ha|vale|senso ?più ?alcun ?senso",
    "meglio ~2 senza ?di me",
    "vorrei non essere|esser ?mai nato|nata",
    "buttarmi|lanciarmi ~3 ponte|treno|balcone|finestra",
    "stanco|stanca di vivere",
];

const ITALIAN_DANGER: &[&str] = &[
    "mi|ci ~1 minaccia|minacciato|minacciata di uccidermi|ammazzarmi|ucciderci",
    "mi|ci ~1 picchia|picchiato|picchiata|violenta|violentato|violentata|minaccia|minacciato|minacciata|strangola|strangolato|stuprata|stuprato|molesta|maltratta",
    "sono|ero stata|stato ~1 picchiata|picchiato|violentata|violentato|stuprata|aggredita|aggredito|molestata|abusata",
    "paura ~1 mio marito|padre|ragazzo|fidanzato|compagno|ex",
    "vuole|minaccia|minacciato ?di uccidermi|ammazzarmi|ucciderci",
    "voglio|vorrei|potrei ucciderlo|ucciderla|ammazzarlo|ammazzarla|ucciderli|accoltellarlo",
    "lo|la|li|vi ammazzo|uccido",
    "infarto|ictus",
    "non ~2 respira|respirare|respiro",
    "svenuto|svenuta|incosciente",
    "dolore ~2 petto",
    "ambulanza",
];

const ITALIAN_IDIOMS: &[&str] = &[
    "morire|muoio|morto|morta|morti da|dal|di ?dal ?le ridere|risate|fame|sete|sonno|noia|freddo|caldo|vergogna|curiosità|paura",
    "da morire",
    "quasi|poco ~4 infarto|infarti",
    "ammazzare|ammazzo il|un tempo|processo",
    "non ~2 respirare|respiro ~1 dal|per ?il ridere|risate|raffreddore",
];

const PORTUGUESE_SELF_HARM: &[&str] = &[
    "me matar|mato|enforcar|suicidar|cortar|mutilar",
    "matar|suicidar|enforcar|mutilar me",
    "quero|queria|prefiro|preferia|desejo|vontade|vou ?só ?de ?apenas ?me morrer|desaparecer|sumir",
    "quero|queria|preferia|melhor ~1 estar|estivesse|estaria morto|morta",
    "tirar a minha|própria vida",
    "tirar minha vida",
    "acabar com a ?minha|tudo ?minha vida",
    "acabar com minha vida|tudo",
    "não ~2 quero|aguento|consigo|vontade ~1 viver|existir|acordar",
    "vida não|já ?não ~1 faz|vale|tem sentido|pena|mais",
    "melhor ~2 sem mim",
    "nunca ~1 ter nascido",
    "automutil*",
    "pular|jogar|atirar ~3 ponte|trem|prédio|varanda|janela",
    "cansado|cansada de viver",
];

const PORTUGUESE_DANGER: &[&str] = &[
    "me ameaça|ameaçou ?de ?me matar|morte",
    "me|nos ~1 bate|bateu|batia|espanca|espancou|estuprou|violou|ameaça|ameaçou|abusa|abusou|agride|agrediu|enforcou|estrangulou",
    "bate|bateu|violou|ameaçou|espancou me",
    "fui ~1 estuprada|estuprado|violada|espancada|espancado|agredida|abusada|abusado",
    "medo ~1 meu marido|pai|namorado|padrasto|ex|companheiro",
    "vai|quer|ameaçou|ameaça|tentou ?de me matar",
    "vou|quero matar|esfaquear ele|ela|eles|alguém|todos|meu|minha",
    "infarto|enfarte|avc|derrame",
    "não ~1 respira|respirar|respirando",
    "inconsciente|desmaiado",
    "dor ~2 peito",
    "ambulância",
];

const PORTUGUESE_IDIOMS: &[&str] = &[
    "morrer|morro|morrendo|morri|morto|morta de|a ?tanto rir|fome|sono|vergonha|frio|calor|sede|tédio|medo|saudade|saudades|rir",
    "me mata|matar|mato|matando de ?tanto rir|trabalhar|estudar|treinar|vergonha",
    "quase ~3 infarto|enfarte|avc",
    "matar ~2 tempo|aula|processo|saudade|saudades|fome",
    "não ~1 respirar ~1 de ?tanto rir",
    "me bateu ?uma ?um saudade|sono|fome|vontade",
];
