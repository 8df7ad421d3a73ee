//! Spanish.

use super::lexicon::Rows;

pub(super) const SPANISH: Rows = Rows {
    stop: "el|la|los|las|un|una|unos|unas|y|e|o|u|pero|si|que|qué|como|cómo|cuál|cuáles|cuándo|cuando|cuánto|cuántos|cuánta|\
         dónde|donde|quién|quien|por|para|con|sin|de|del|al|a|en|sobre|entre|desde|hasta|yo|me|mi|mis|mí|tú|tu|tus|te|ti|él|\
         ella|ellos|ellas|le|les|lo|se|su|sus|nos|nuestro|nuestra|esto|eso|este|esta|estos|estas|ese|esa|esos|esas|aquello|\
         es|son|era|fue|ser|estar|está|están|estoy|estás|hay|ha|he|has|han|haber|tengo|tiene|tienes|puede|puedo|puedes|debo|\
         debe|quiero|quiere|hacer|hace|hago|haz|ir|va|voy|no|sí|muy|más|menos|mejor|peor|mucho|muchos|poco|todo|todos|todas|\
         nada|algo|también|tampoco|ya|aún|todavía|ahora|hoy|ayer|siempre|nunca|otra|otro|otros|cosa|favor|gracias|hola|\
         buenos|buenas|bien|primero|segundo|tercero|ejemplo|dice|necesito|ayuda|quita|pasar|porque|pues|dos|tres|lugar|cual|\
         soy|ante|tan",
    determiners: "un|una|mi|mis|el|la|los|las|nuestro|nuestra|algún|alguna",
    connectives: "^y|^pero|^o|^entonces|^así que|^porque|^pues|^aunque|^además|^también|^sino|^sin embargo|^y si|^ahora|^en ese caso|\
         ^en cambio|^o sea|^es que",
    pronouns: "él|ella|ellos|ellas|lo|le|les|su|sus|suyo|suya",
    empty_pronouns: "lo que|lo mejor|lo más|por lo menos|a lo mejor|lo siento",
    demonstratives: "eso|esto|aquello|^ese|^esa|^este|^esta|^esos|^esas|ese$|esa$|este$|de ese|de esa|con ese|con esa|ahí|así$|^así",
    references: "dijiste|has dicho|mencionaste|sugeriste|recomendaste|escribiste|olvidaste|tu respuesta|tu consejo|tu lista|\
         tu ejemplo|tu sugerencia|de arriba|arriba|antes|anterior|el primero|la primera|el segundo|la segunda|del segundo|\
         del primero|el tercero|la tercera|el último|la última|el otro|la otra|los otros|las otras|los demás|el resto|\
         lo mismo|el mismo|la misma|cuál de|cuáles de|de ellos|de ellas|alguno de|la lista|la respuesta|la regla|el ejemplo|\
         el final|otra vez|de nuevo|en su lugar|como siempre|qué más|más del|más de la",
    ellipses: "^por qué$|^cómo$|^cuándo$|^dónde$|^quién$|^cuál$|^cuánto$|^cuántos$|^qué$|^por qué no|^para qué$|^con quién|\
         ^desde cuándo|^hasta cuándo|^qué más|^quién más|^algo más|^por ejemplo|^y si|^y para|^y por|^y en|^qué tal|^en|^con|\
         ^sin|^para|^de verdad|^en serio|^seguro|exactamente$|^dónde|^cuándo",
    reworks: "hazlo|hazla|hazlos|ponlo|ponla|tradúcelo|tradúcela|escríbelo|escríbela|cámbialo|explícalo|resúmelo|acórtalo|dilo|\
         repítelo|más corto|más corta|más largo|más larga|más formal|menos formal|más sencillo|más simple|más detalles|\
         con más detalle|^añade|^agrega|^quita|^elimina|^cambia|^sustituye|^sigue|^continúa|^otra$|^otro$|^más|^ahora|\
         un ejemplo|ejemplos|^háblame|^cuéntame más|paso a paso|en otras palabras|de otra forma",
    responses: "^sí|^si$|^no$|^no me|^no lo|^no sé|^no entiendo|^no entendí|^vale|^ok|^bueno|^bien|^gracias|^muchas gracias|^claro|\
         ^exacto|^perfecto|^genial|^cierto|^verdad|^jaja|^quizás|^tal vez|^supongo|^creo que|^entiendo|^ya|^de acuerdo|\
         ^me gusta|^prefiero|^a veces|^nunca|^siempre|^lo probé|^lo intenté|^funcionó|^estás seguro|^estás segura|^ah|^oh|\
         ^mmm|^ninguno|^ambos|^los dos|^demasiado|^ya lo|^ya la|^no puedo|^no tengo|^una vez|^hace|^a mi|^solo|^sólo",
    new_topics: "^otra cosa|^otra pregunta|^otro tema|^cambio de tema|cambiando de tema|cambiemos de tema|^por cierto|\
         ^nueva pregunta|^hola|^buenos días|^buenas tardes|^buenas noches|^olvídalo",
    requests: "escribe|explica|explícame|dame|dime|traduce|recomiéndame|recomienda|cuéntame|haz|diseña|calcula|compara|resume|crea|\
         ayúdame|sugiere|propón|busca|describe|lista|enumera|ideas|receta|corrige",
    is_spaced: true,
    divides_at_apostrophe: false,
    endings: "",
};
