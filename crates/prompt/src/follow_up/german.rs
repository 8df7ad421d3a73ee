//! German.

use super::lexicon::Rows;

pub(super) const GERMAN: Rows = Rows {
    stop: "der|die|das|dem|den|des|ein|eine|einen|einem|einer|eines|und|oder|aber|wenn|dass|als|wie|was|wer|wem|wen|wo|wann|\
         warum|wieso|welche|welcher|welches|welchen|viele|viel|ich|mich|mir|mein|meine|meinen|meiner|du|dich|dir|dein|deine|\
         er|ihn|ihm|sein|seine|sie|ihr|ihre|ihnen|es|wir|uns|unser|man|dies|diese|dieser|dieses|diesen|jener|davon|dazu|\
         damit|dafür|dagegen|darüber|daran|darauf|daraus|dabei|ist|sind|war|waren|bin|bist|wird|werden|wurde|habe|hast|hat|\
         haben|hatte|kann|kannst|können|könnte|soll|sollte|sollen|muss|müssen|will|willst|möchte|darf|mag|in|im|an|am|auf|\
         aus|bei|beim|mit|nach|von|vom|vor|zu|zum|zur|für|über|unter|um|durch|gegen|ohne|seit|bis|nicht|kein|keine|nein|ja|\
         doch|auch|noch|nur|schon|so|sehr|mehr|etwas|alles|nichts|alle|hier|da|dort|dann|denn|jetzt|heute|gestern|immer|nie|\
         wieder|mal|bitte|danke|gut|genau|gibt|geht|machen|macht|mach|lange|worum|wozu|hilft|reicht|brauche|brauchen|sich|\
         eins|zwei|drei|erste|zweite|beispiel|ahnung|guten|hallo|sagt|gesagt|getan|weil|ob|sonst|vorher|eigentlich|wirklich|\
         wegen|kenne|kennen|zehn|fünf|taugt|reichen|tag|tage|jeden|mann|leute|zeit|welchem",
    determiners: "ein|eine|einen|einem|einer|mein|meine|meinen|meiner|unser|der|die|das|den|dem|gibt",
    connectives: "^und|^aber|^oder|^also|^dann|^sondern|^denn|^weil|^trotzdem|^sonst|^außerdem|^jedoch|^auch wenn|^dass|^nur|^auch|\
         ^stattdessen|^jetzt noch|^jetzt mit|^nun|^dafür|^dagegen|^ok und|^ok aber|^geht auch",
    pronouns: "er|ihn|ihm|sein|seine|seinen|sie|ihr|ihre|ihren|ihnen|dessen|deren|davon",
    empty_pronouns: "können sie|haben sie|sind sie|bitte sie|würden sie",
    demonstratives: "^das|das$|dies|davon|dazu|damit|dafür|dagegen|darüber|daran|darauf|daraus|dabei|darin|danach|deshalb|kannst du das|\
         können sie das|ist das|war das|wie das|heißt das|warum das|ich das|das nicht|das auf|das auch|so etwas|diese|dieser|\
         dieses|diesen|das gleiche|das selbe|dasselbe|wenn das|dass das|und das",
    references: "du gesagt|du gemeint|du meinst|du vorgeschlagen|du geschrieben|du erwähnt|du vergessen|hast du|deine antwort|\
         dein vorschlag|dein rat|deinen rat|wie oben|oben|vorhin|vorher|vorherige|der erste|die erste|das erste|der zweite|\
         die zweite|das zweite|den zweiten|den ersten|dem zweiten|dem ersten|der dritte|die dritte|der letzte|die letzte|\
         die beiden|die andere|der andere|die anderen|das andere|den anderen|den rest|welche davon|welcher davon|\
         welches davon|die liste|der satz|der letzte satz|das beispiel|die regel|das ende|die antwort|der fehler|nochmal|\
         noch einmal|wie gesagt|wie immer|genauso",
    ellipses: "^warum$|^wieso$|^weshalb$|^wie$|^wann$|^wo$|^wer$|^was$|^von wem|^mit wem|^seit wann|^wie lange$|^wie viel$|\
         ^wie viele$|^wozu$|^wofür$|^womit$|^woher$|^wohin$|^warum denn|^warum nicht|^wieso nicht|^warum gerade|^wieso denn|\
         ^was noch|^wer noch|^wo noch|^sonst noch|^noch|^zum beispiel|^was ist mit|^wie ist es mit|^wie sieht es mit|\
         ^und wenn|^für|^mit|^ohne|^in|^auf|^bei|^nicht|^echt$|^welche$|^welcher$|^welches$|^geht auch|^auch mit|genau$|\
         stattdessen$",
    reworks: "kürzer|länger|einfacher|freundlicher|förmlicher|lockerer|lustiger|ausführlicher|genauer|besser|weiter$|^weiter|\
         mach weiter|mach es|mach bitte|mach das|mach daraus|^etwas|^noch ein|^noch eine|^noch mal|^nochmal|ein beispiel|\
         beispiele|^füge|^ergänze|^streiche|^entferne|^ersetze|^ändere|^lass|^jetzt|^nun|auf englisch|auf deutsch|schreib es|\
         schreib das|umformulieren|formuliere es|formuliere das|mehr dazu|mehr davon|mehr über|erklär es|erkläre es|\
         erklär das|im detail|schritt für schritt|anders|übersetze das|übersetze es|^mehr",
    responses: "^ja|^nein|^nö|^doch|^danke|^vielen dank|^ok|^okay|^gut|^super|^toll|^prima|^klar|^genau|^stimmt|^richtig|^falsch|\
         ^aha|^ach|^oh|^hm|^hmm|^haha|^keine ahnung|^weiß nicht|^weiß ich nicht|^ich weiß nicht|nicht verstanden|\
         verstehe ich nicht|verstehe nicht|^verstehe|^verstanden|^vielleicht|^wahrscheinlich|^sicher|^bist du sicher|\
         ^wirklich|^ich glaube|^ich habe es|^hat geklappt|^hat funktioniert|^klappt|^gerne|^gern|^lieber|^beides|^weder|\
         ^manchmal|^nie|^immer|^schade|^sorry|^moment|^schön|^perfekt|^ich meinte|^kenne ich|^kenn ich|^habe ich|^hab ich|\
         ^zu|^nicht so|^geht nicht|^ging nicht|^hilft nicht",
    new_topics: "^andere frage|^neue frage|^anderes thema|^neues thema|themenwechsel|etwas anderes|was anderes|^übrigens|\
         ^ganz anders|^hallo|^hi|^guten morgen|^guten abend|^guten tag|^moin|^servus|^vergiss es|^egal|^nebenbei",
    requests: "schreib|schreibe|erkläre|erklär|gib|nenne|nenn|berechne|formuliere|übersetze|übersetz|zeig|zeige|erzähl|erzähle|\
         hilf|vergleiche|plane|empfiehl|such|suche|finde|erstelle|mach|fasse|beschreibe|liste|rechne|entwirf|bitte|rezept|\
         ideen",
    is_spaced: true,
    divides_at_apostrophe: false,
    endings: "",
};
