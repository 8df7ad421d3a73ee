//! English.

use super::lexicon::Rows;

pub(super) const ENGLISH: Rows = Rows {
    stop: "a|an|the|and|or|but|if|of|to|in|on|at|by|for|from|with|without|about|as|into|like|through|after|over|between|out|\
         against|during|before|under|around|among|up|down|off|per|i|im|ive|id|ill|me|my|mine|myself|you|your|yours|youre|we|\
         us|our|he|him|his|she|her|hers|it|its|they|them|their|this|that|these|those|thats|who|whom|whose|which|what|whats|\
         when|where|why|how|is|are|was|were|be|been|being|am|do|does|did|done|doing|dont|doesnt|didnt|has|have|had|having|\
         havent|hasnt|can|cant|cannot|could|couldnt|should|shouldnt|would|wouldnt|will|wont|may|might|must|shall|not|no|yes|\
         so|than|then|too|very|just|only|also|more|most|less|least|much|many|some|any|all|both|each|every|few|other|another|\
         such|own|same|here|there|now|again|once|ever|never|always|still|already|yet|one|ones|two|get|got|go|going|goes|went|\
         come|make|made|makes|take|takes|use|used|using|want|need|know|think|thought|say|said|says|see|look|try|tried|let|\
         lets|put|keep|mean|means|happen|happens|work|works|really|actually|exactly|please|thanks|thank|ok|okay|hi|hello|\
         well|good|better|best|bad|new|old|big|long|short|thing|things|something|anything|nothing|everything|way|lot|kind|\
         sort|bit|maybe|isnt|arent|wasnt|else|instead|though|because|until|while|possible|sure|right|wrong|first|second|\
         third|fourth|last|next|sentence|example|examples|detail|details|part|question|answer|point|idea|ideas|anyone|\
         someone|nobody|everyone|cheaper|shorter|longer|simpler|matter|matters|guess|idk|lol|haha|hey|rather|almost|enough|\
         anywhere|somewhere|elsewhere|today|tomorrow|yesterday|three|four|five|ten|person|people|time|times|day|days|week|\
         start|stop|help|feel|give|find|seem|seems|suggest|alternative|alternatives|option|options|version|difference",
    determiners: "a|an|the|my|our|your|some|any|every|each|two|three|do|does|did|and|between|why|if",
    connectives: "^and|^but|^or|^so|^then|^because|^cause|^otherwise|^still|^though|^however|^plus|^instead|^even if|^even though|\
         ^in that case|^except|^unless|^ok so|^ok but|^okay so|^okay but|^ok and|^also|^well|^now with|^now make|^now in|\
         ^now add|^now try|^that said|^as for|^especially|^meaning",
    pronouns: "it|its|he|him|his|she|her|hers|they|them|their|theirs|hes|shes|theyre|theyve|itself",
    empty_pronouns: "its raining|it is raining|it rains|its snowing|its cold|its hot|its late|how long does it take|does it take to|\
         it takes to|what time is it|is it true|is it possible|is it safe|is it ok|is it okay|is it legal|is it normal|\
         is it bad to|is it better to|is it worth|is it hard to|is it dangerous|is it healthy|is it rude|it depends|it seems|\
         it looks like|its hard to|its time|how is it that|it was a|its been a",
    demonstratives: "^that|^thats|^this|^those|^these|that$|this$|those$|these$|about that|about this|like that|like this|of that|\
         of this|of those|of these|do that|do this|does that|did that|doing that|is that|is this|was that|are those|\
         are these|why is that|with that|with this|for that|for this|from that|from this|to that|to this|on that|on this|\
         in that|by that|by this|say that|mean that|explain that|explain this|translate this|translate that|than that|\
         after that|before that|does this|all that|all this|that one|this one|that part|this part|that list|this list|\
         that rule|that idea|that word|that sentence|that answer|that point|that line|that first|put this|put that|turn this|\
         turn that|summarise this|summarize this|change that|change this|will that|would that|can that|could that|made that",
    references: "you said|you say|you mentioned|you suggested|you recommended|you wrote|you told|you forgot|you missed|you mean|\
         you think|you meant|you just|did you|you gave|you listed|you described|you call|your answer|your advice|\
         your suggestion|your list|your example|your last|your first|your point|your idea|your reply|as above|the above|\
         above|earlier|previous|previously|last answer|last one|last point|last reply|the first one|the second one|\
         the third one|the last one|first one|second one|third one|the first|the second$|the third$|the last$|the latter|\
         the former|the other|the others|the rest|the same|same as|the ones|the one|ones|which one|which ones|which of|\
         any of|one of|each one|both of|all of|none of|most of|another one|other one|cheaper one|the cheaper|the rule|\
         the answer|the list|the example|the ending|the end$|the steps|the option|the idea|the plan|the result|the error|\
         the offer|the last sentence|the first line|the second line|the third line|the last line|the first part|\
         the second part|the last part|the first point|option a|option b|option one|option two|number one|number two|\
         number three|called again|name again|again$|as before|like before|as always|similar but|anything similar|\
         something similar|at the end",
    ellipses: "^why$|^how$|^when$|^where$|^who$|^what$|^which$|^how so$|^why not$|^how come$|^why so$|^since when$|^for how long$|\
         ^like what$|^such as$|^for example$|^for instance$|^what else|^who else|^where else|^anything else|^how else|\
         ^how much$|^how many$|^by whom$|^by who$|^with whom$|^from where$|^until when$|^what for$|^to where$|^what about|\
         ^how about|^what if$|^what if|^same for|^same with|^same in|^anything|^not|^in what way|^in|^with|^without|^for|\
         ^from|^only|^about|^to whom|^too$|^either$|instead$|too much$|exactly$|^that is$|^whose$|^which one|^which ones|\
         ^where can i get|what else would|what else could|^too",
    reworks: "make it|make them|make that|make this|shorter|longer|simpler|more formal|less formal|more casual|more friendly|\
         friendlier|funnier|more detail|more details|rewrite it|rewrite this|rephrase|reword|continue|go on|keep going|\
         carry on|^more|^again|try again|once more|in more detail|elaborate|expand|^explain like|explain again|^add|^remove|\
         ^replace|^change the|^delete|^use it|^use|^now|^next|^another|another one|give me an example|an example|examples|\
         ^example|step by step|in other words|shorten|tell me more|quiz me on|more about|more on|^go into|^go deeper|\
         do the same|^the same|simplify|in simple words|in simple terms|^better|^cheaper|^bigger|^smaller|^faster|^easier|\
         ^put it|^say it|^leave out|^skip|^start over|^undo|^cut|^swap|^fix it|^format it|^translate it|^summarise it|\
         ^summarize it|^try it|^expand on|^prove|^show me|^fewer|^say that|^say this|^give me another|^give me more|\
         ^alternatives|alternatives$|^look again|^check again|^repeat|^spell",
    responses: "^yes|^yeah|^yep|^yup|^no|^nope|^nah|^ok|^okay|^sure|^thanks|^thank you|^thx|^ty|^great|^exactly|^right|^true|\
         ^perfect|^nice|^cool|^lol|^haha|^hm|^hmm|^idk|^i dont know|^i dont get|^i dont understand|^i didnt understand|\
         ^got it|^i see|^i agree|^i disagree|^are you sure|^really|^not sure|^not really|^maybe|^i guess|i guess$|\
         ^i think so|^i dont think|^i tried|^i did|^update|^it worked|^it works|^it doesnt|^it didnt|^sounds|^i already|^wow|\
         ^interesting|^good idea|^good point|^fair|^of course|^please do|^why not|^ah|^oh|^ugh|^wait|^sorry|^correct|^wrong|\
         ^never|^sometimes|^probably|^indeed|^you forgot|^you missed|^i like|^i love it|^i meant|^i mean|^done|^absolutely|\
         ^definitely|^both|^neither|^i thought about|^too|^i wouldnt|^i would|^i wont|^i cant|^i could|^once|^only when|\
         ^prove|^so far|^not yet|^seen|^been there",
    new_topics: "by the way|btw|^new question|^new topic|different topic|different question|another topic|another question|\
         something else|^unrelated|on another note|change of subject|change the subject|^forget it|^forget that|^never mind|\
         ^nevermind|^hi|^hello|^hey|^good morning|^good evening|^good afternoon|^off topic|^yes or no|^anyway",
    requests: "write|list|explain|give|tell|translate|convert|draft|create|suggest|compare|calculate|compute|remind|solve|\
         proofread|invent|define|summarise|summarize|recommend|plan|help|describe|show|name|find|generate|design|fix|rank|\
         please|compose|correct|check|turn|forget",
    is_spaced: true,
    divides_at_apostrophe: false,
    endings: "",
};
