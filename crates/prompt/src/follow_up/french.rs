//! French; an apostrophe divides words.

use super::lexicon::Rows;

pub(super) const FRENCH: Rows = Rows {
    stop: "le|la|les|l|un|une|des|du|de|d|et|ou|mais|si|que|qu|qui|quoi|quel|quelle|quels|quelles|lequel|laquelle|comment|\
         quand|où|pourquoi|combien|je|j|me|m|moi|mon|ma|mes|tu|te|t|toi|ton|ta|tes|il|elle|ils|elles|lui|leur|leurs|son|sa|\
         ses|on|nous|notre|vous|votre|vos|se|s|ce|c|ça|cela|ceci|cet|cette|ces|y|en|est|sont|était|étaient|être|suis|es|ai|\
         as|a|ont|avoir|avez|peut|peux|peuvent|faire|fait|fais|faut|dois|doit|veux|veut|aller|va|vais|à|au|aux|dans|sur|sous|\
         avec|sans|pour|par|entre|depuis|vers|chez|ne|n|pas|plus|moins|très|trop|peu|bien|mieux|tout|tous|toute|toutes|rien|\
         aussi|encore|déjà|maintenant|toujours|jamais|ici|là|non|oui|merci|bonjour|salut|plaît|premier|deuxième|second|\
         exemple|jours|quelques|sais|temps|deux|trois|comme|donc|alors|parce|été|dit|même|autre|autres|pays|compte|jour|fois",
    determiners: "un|une|mon|ma|mes|notre|le|la|les|l|votre",
    connectives: "^et|^mais|^ou|^donc|^alors|^parce que|^car|^sinon|^aussi|^pourtant|^et si|^maintenant|^dans ce cas|^même si|^sauf|\
         ^en fait|^du coup|^depuis",
    pronouns: "il|elle|ils|elles|lui|leur|eux",
    empty_pronouns: "il y a|il faut|il fait|il pleut|est il possible|il est possible|s il te plaît|s il vous plaît|quelle heure est il",
    demonstratives: "ça|cela|ceci|^c est|celui ci|celle ci|celui là|celle là|là dessus|cette liste|cette phrase|cette idée",
    references: "tu as dit|tu disais|vous avez dit|tu as mentionné|tu as écrit|tu proposes|tu as oublié|ton conseil|ta réponse|\
         ta liste|ton exemple|ta suggestion|votre conseil|ci dessus|plus haut|tout à l heure|précédent|précédente|\
         ^le premier|le premier$|la première$|^la première|le deuxième|la deuxième|le second|la seconde|le troisième|\
         le dernier|la dernière|l autre|les autres|le reste|la même|le même|lequel|laquelle|lesquels|lesquelles|la règle|\
         la liste|la réponse|l exemple|la fin|encore une fois|de nouveau|comme d habitude|à la place|d eux|d entre eux|\
         tous les deux|toutes les deux",
    ellipses: "^pourquoi$|^comment$|^quand$|^où$|^qui$|^quoi$|^combien$|^pourquoi pas|^depuis quand$|^avec qui$|^par qui$|\
         ^quoi d autre|^qui d autre|^autre chose$|^par exemple|^et si|^et pour|^et en|^et avec|^en|^avec|^sans|^pour|\
         ^vraiment$|^ah bon|exactement$|^on peut|^lequel|^laquelle|^la|^le",
    reworks: "plus court|plus courte|plus long|plus longue|plus simple|plus formel|moins formel|plus de détails|en détail|^ajoute|\
         ^enlève|^supprime|^remplace|^change|^continue|^encore|^plus|^un autre|^une autre|un exemple|des exemples|^reformule|\
         ^réécris|^raccourcis|^développe|fais le|fais la|traduis le|traduis la|mets le|mettre ça|dis m en plus|parle moi du|\
         étape par étape|autrement dit|autrement|^maintenant",
    responses: "^oui|^non|^si$|^ok|^d accord|^merci|^bien|^bien sûr|^super|^parfait|^exactement|^c est vrai|^vrai|^faux|^ah|^oh|^hm|\
         ^haha|^mdr|^peut être|^je ne sais pas|^je sais pas|^aucune idée|pas compris|^je ne comprends pas|^je comprends|\
         ^je vois|^je crois|^je pense que oui|^je suppose|^tu es sûr|^vous êtes sûr|^ça marche|^ça a marché|^j ai essayé|\
         ^j ai suivi|^je préfère|^plutôt|^les deux|^aucun|^parfois|^jamais|^toujours|^génial|^intéressant|^trop|^je l ai|\
         ^je connais|^déjà|^pas encore|^pas vraiment|^une fois|^seulement",
    new_topics: "changeons de sujet|^autre sujet|^autre question|^nouvelle question|^autre chose|^au fait|^à propos|^rien à voir|\
         ^bonjour|^bonsoir|^salut|^coucou|^oublie|^laisse tomber",
    requests: "écris|explique|donne|dis|traduis|cite|raconte|propose|résume|calcule|compare|recommande|conseille|aide|trouve|crée|\
         décris|liste|montre|corrige|recette|idées|prépare",
    is_spaced: true,
    divides_at_apostrophe: true,
    endings: "",
};
