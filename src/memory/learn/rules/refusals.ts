import type { Refusal } from '../candidate.ts'
import { isAnnouncement } from './announcements.ts'
import { isSpeaker } from './openers.ts'

export type Reason = Pick<Refusal, 'reason' | 'explanation'>

const because = (reason: Refusal['reason'], explanation: string): Reason => ({ reason, explanation })

const inverted =
  "(?:is|are|am|was|were|do|does|did|can|could|should|would|will|has|have|had|may|shall|isn['’]t|aren['’]t|don['’]t|doesn['’]t|didn['’]t|won['’]t|can['’]t|couldn['’]t|shouldn['’]t|wouldn['’]t)"
const questionWords = new RegExp(
  String.raw`^(?:and |so |but |ok(?:ay)?,? |hey,? |also,? |now,? )*(?:(?:what|who|when|where|why|how|which|whose|whom)(?:['’]s\b|['’]re\b|\s+(?:many|much|long|often|far|old|big|about|come|else|exactly)\b|\s+(?:[\p{L}-]+\s+){0,4}?${inverted}\s+(?:i|you|we|he|she|it|they|there|this|that|the|my|our|your|his|her|their|a|an)\b|\s+${inverted}\b)|${inverted}\s+(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|our|your|anyone|someone|anybody|somebody)\b|any (?:idea|chance|thoughts|suggestions|advice|tips)\b|(?:i(?:['’]m| am) wondering|i wonder|just wondering|i(?:['’]d| would) like to know|i want to know|do you know|tell me (?:what|who|when|where|why|how|which|if|whether))\b)`,
  'iu',
)
/** "Is Ana coming", "what does Priya lead": the same with a name. */
const questionOfName =
  /^(?:[Aa]nd |[Ss]o |[Bb]ut )?(?:(?:[Ww]hat|[Ww]ho|[Ww]hen|[Ww]here|[Ww]hy|[Hh]ow|[Ww]hich)\s+(?:[\p{L}-]+\s+){0,3}?(?:is|are|was|were|do|does|did|can|could|should|would|will|has|have)|(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Dd]o|[Dd]oes|[Dd]id|[Cc]an|[Cc]ould|[Ss]hould|[Ww]ould|[Hh]as|[Hh]ave))\s+\p{Lu}\p{Ll}/u
/** "What I like most is …", "when I was ten I …": a clause, not a question. */
const clauseNotQuestion =
  /^(?:what|where|who|when|how|which|whenever)\s+(?:i|we|my|our|he|she|they)(?:['’]\p{L}+)?\s+/iu

const frames =
  /^(?:(?:so |ok(?:ay)?,? |now,? |well,? |please |and |but )*(?:if\b|suppose\b|supposing\b|imagine\b|assume\b|assuming\b|let['’]?s (?:say|assume|suppose|imagine|pretend|play)\b|lets (?:say|pretend|play)\b|say (?:i|my|we|our|that|there|you)\b|pretend\b|what if\b|in case\b|hypothetically\b|theoretically\b|unless\b|for (?:example|instance)\b|e\.g\.|for the sake of (?:argument|example)|picture (?:this|a|an|me)\b|in (?:(?:this|the|my|our) (?:story|scenario|novel|game|roleplay|role-play|film|movie|play|show|series|simulation|example|dream|thought experiment)|(?:season|episode|chapter|act|book|volume) (?:\d+|one|two|three|four|five|six))\b|once upon a time\b|let['’]?s role-?play|role-?play\b|you are (?:a|an|the|now)\b|you['’]re (?:a|an|now)\b|act (?:as|like)\b|in character\b|as a joke\b|just kidding\b|consider (?:a|the) (?:case|scenario|situation)\b|were i\b|had i\b|if only\b|i wish\b|would it\b|(?:my|the) (?:main |lead )?(?:character|protagonist|villain|hero|heroine)\b))/iu
/** Begins something made up that goes on in the sentences after it. */
const madeUp =
  /^(?:(?:so |ok(?:ay)?,? |now,? |well,? |please |and )*(?:suppose|imagine|assume|assuming|let['’]?s (?:say|assume|suppose|imagine|pretend|play|role-?play)|lets (?:say|pretend|play)|pretend|hypothetically|in (?:(?:this|the|my|our) (?:story|scenario|novel|game|roleplay|role-play|film|movie|play|show|series|simulation|example|dream)|(?:season|episode|chapter|act|book|volume) (?:\d+|one|two|three|four|five|six))|once upon a time|role-?play|you are (?:a|an|the|now)|act (?:as|like)|picture (?:this|me)|consider (?:a|the) (?:case|scenario|situation)|for the sake of))\b/iu
const tentative =
  /\b(?:i|we|he|she|they|it)\s+(?:might|may|could)\b|^(?:maybe|perhaps|possibly|hopefully|ideally)\b|\b(?:i['’]m|i am|we['’]re|we are) (?:thinking (?:of|about)|considering|tempted to|wondering)|\b(?:i|we)['’]d (?:be|have|go|do|make|need|want|buy|live|move|get|take|say|guess|imagine)\b|\b(?:i|we) would (?:be|have|go|do|make|buy|live|move|get|take|say)\b|\bnot sure (?:if|whether|that|about|yet)\b|\bwere to\b/iu

const speakers = String.raw`he|she|they|someone|somebody|people|everyone|everybody|my (?:[\p{L}-]+ ){0,2}?\p{L}+|our (?:[\p{L}-]+ ){0,2}?\p{L}+|the (?:[\p{L}-]+ ){0,3}?\p{L}+|his \p{L}+|her \p{L}+|\p{Lu}[\p{L}.'’-]+(?: \p{Lu}[\p{L}.'’-]+){0,3}|an? (?:[\p{L}-]+ ){0,2}?\p{L}+`
const reports =
  'said|says|saying|wrote|writes|told (?:me|us|him|her|them)|tells (?:me|us)|claims|claimed|asked|asks|replied|answered|mentioned|argues|argued|insists|insisted|reckons|thinks|thought|believes|believed|suggests|suggested|stated|states|reported|reports that|announced|recommended|recommends|warned|tweeted|posted|texted|emailed(?: me| us)?|quoted'
const reported = new RegExp(
  String.raw`^(?:(?:and|but|so|also|yesterday|today|apparently|as)[ ,]+)*(?:${speakers})\s+(?:just |once |always |also |recently |already )?(?:${reports})\b(?:\s*[:,]?\s*["“'‘]|\s*:|\s+(?:that|me|us|he|she|they|it|i|we|you|my|his|her|their|the|there|to|if|whether|why|how|what|a|an|\p{Lu}))`,
  'iu',
)
const accordingTo =
  /^(?:according to|in the words of|per the|as (?:per )?the (?:docs|documentation|article|manual|readme|report|book|website|paper|news)|quote|to quote|quoting|the (?:docs|documentation|article|manual|readme|error(?: message)?|log|logs|report|website|paper|news|email|message|letter|terms|contract|sign|label|book) (?:say|says|said|state|states|read|reads|claims?)|i(?:['’]m| am|['’]ve been| have been) told|i (?:read|heard|saw|hear)(?: somewhere| online| in| on| that| an| a)?\b|it says|apparently|rumou?r has it|they say|allegedly|here(?:['’]s| is) (?:what|the (?:email|message|error|log|text|quote))|(?:he|she|they|\p{Lu}\p{L}+)(?:['’]s)? (?:exact words|words were))\b/iu
const wholeQuote = /^(?:"[^"]+"|“[^”]+”|‘[^’]+’|«[^»]+»)[.!?]?(?:\s*[-—–]\s*.*)?$/u

const smallTalk =
  /^(?:(?:hi|hello|hey|hiya|yo|good (?:morning|afternoon|evening|night)|morning|greetings|dear (?:agent|assistant|all))\b[^.]{0,30}|thanks?\b.{0,60}|thank you\b.{0,60}|thx\b.{0,20}|cheers\b.{0,30}|ok(?:ay)?|k|sure|great|cool|nice|awesome|perfect|lovely|wonderful|excellent|brilliant|amazing|fantastic|fine|alright|all right|right|yes|yep|yeah|yup|no|nope|nah|maybe|indeed|exactly|agreed|got it|understood|makes sense|sounds (?:good|great|fine|right|like a plan)|will do|no problem|no worries|never ?mind|you['’]re welcome|you are welcome|welcome|sorry|my apologies|apologies|excuse me|bye|goodbye|see you.{0,20}|talk (?:to you )?(?:soon|later)|take care|have a (?:good|nice|great) .{1,20}|lol|haha+|hehe|wow|oh|ah|hmm+|ugh|whatever|i see|i know|i agree|i think so|i don['’]t know|i dont know|idk|i guess(?: so)?|me too|same here|same|not bad|not really|that(?:['’]s| is| was| sounds| looks)? (?:a |an |so |very |really |pretty |all |quite )*(?:all|good|great|nice|fine|helpful|helps?|ok(?:ay)?|it|right|correct|wrong|true|funny|interesting|awesome|perfect|cool|weird|strange|sad|exciting|works?|makes? sense|enough|everything|lovely|wonderful|brilliant|amazing|a (?:good|great) (?:idea|point|question))(?: (?:a lot|so much|for now|now|very much|then|thanks|too|to hear|to know))*|it(?:['’]s| is) (?:raining|snowing|sunny|cold|hot|warm|late|early|friday|monday|nice|ok(?:ay)?|fine|great|good|funny|weird|sad|true|hard|easy|been a (?:long|hard|rough|good) (?:day|week))\b.{0,40}|what a (?:day|week|mess|surprise|shame|relief)\b.{0,20}|nice to (?:meet|see|hear).{0,30}|how are you.{0,20}|long time no see|let(?:['’]s| us) (?:start|begin|go|see|get started|continue|move on|do (?:this|it)).{0,40}|here (?:we|you) go|here you are|you (?:rock|are great|['’]re the best|did great|are right|['’]re right)|(?:good|great|nice|well) (?:job|work|done|one|point|question|idea)\b.{0,30}|i(?:['’]m| am) (?:so |very |really |quite |a bit |a little |just |kind of |pretty |all |too |feeling )*(?:good|fine|well|ok(?:ay)?|great|tired|exhausted|hungry|bored|sorry|happy|glad|excited|curious|sure|not sure|confused|done|ready|here|new here|back|stuck|lost|busy|late|sad|angry|annoyed|frustrated|worried|nervous|sleepy|cold|hot|impressed|surprised|relieved|afraid|doing (?:well|fine|great|ok(?:ay)?)|in a hurry|running late|on my way|off|out)\b(?:\s+(?:today|now|right now|at the moment|this (?:morning|afternoon|evening|week)|to (?:hear|see|help|know)|that|about|with this|for|again|thanks|,).*)?)[\s.!,…)(:;'"*_-]*$/iu

/** How things stand this very moment, or went a moment ago. */
const passing =
  /^(?:(?:the|my|our|that|this|today['’]s|yesterday['’]s)\s[\p{L} ]{2,30}\s(?:went|is going|was)\s(?:(?:really|very|quite|pretty|so|not)\s)*(?:fine|well|ok(?:ay)?|great|good|bad|badly|smoothly|nice|fun|boring|awful|terrible|lovely)\b[^,;:\d]{0,20}|(?:i|we)(?:['’]ve| have)?\s(?:really\s|just\s|still\s)?(?:need|have|must|want|got)\s(?:to\s)?\p{Ll}.{2,60}\s(?:tonight|today|right now|now|this (?:morning|afternoon|evening)|asap|in a minute)|(?:my|our|the)\s[\p{L} ]{2,25}\s(?:is|are|feels?|hurts?)\s(?!(?:at|on|in|from|until|due|called)\s)[\p{Ll} ]{2,30}\s(?:today|tonight|right now|at the moment|just now|this morning)|my (?:head|mind|memory|brain) is (?:so |completely |totally )?(?:empty|blank|mush|fried|spinning|foggy|full|a sieve|like a sieve)|i(?:['’]m| am) back (?:from|after)\b.{0,40}|i(?:['’]m| am) (?:just |still )?\p{Ll}+ing (?:(?:for|on|through|with) )?(?:tomorrow|today|tonight|something|things|stuff)\b.{0,40}|[\p{L} ]{2,30}\sfor (?:today|tonight|tomorrow)\s*:.+|(?:i |we )?hope (?:you|all|everything|this)\b.{0,60})(?:[\s,]+(?:ugh|lol|haha|sigh|argh|sadly|again|though))*[\s.!,…]*$/iu

const imperative =
  /^(?:please\s+|kindly\s+|now\s+|then\s+|just\s+|also\s+|and\s+|so\s+|ok(?:ay)?,?\s+|first,?\s+|next,?\s+|go ahead and\s+|could you\s+|can you\s+|would you\s+|will you\s+|quickly\s+)*(?:write|make|create|fix|tell|show|explain|give|help|let['’]?s|let me know|run|generate|summari[sz]e|translate|find|search|look up|look at|look for|add|remove|delete|update|open|check|list|draft|send|book me|remind|schedule|set up|set|save|store|keep|read|confirm|reply|respond|answer|compare|calculate|compute|convert|rewrite|rephrase|review|refactor|implement|build me|design|suggest|recommend|propose|describe|analy[sz]e|think|try|stop|wait|continue|proceed|go on|repeat|remember to|remember this|remember these|remember it|remember when|note this|forget|memorize this|print|output|return|execute|install|download|upload|copy|move|rename|format|sort|filter|count|group|merge|split|plan|brainstorm|outline|proofread|edit|correct the|correct my|correct this|test|debug|deploy|commit|push|pull|clone|clean|turn|play|tell|ask|email|text|call (?!me\b)|message|order|buy|pick|choose|select|take|put|bring|get|fetch|grab|start by|begin by|begin with|start with|use the|use this|use that|do this|do that|do it|do the|do a|have a look|take a look|be careful|see if|see whether|make sure|ensure|verify|validate|feel free|don['’]t (?:worry|bother|mention)|do not worry|note down|note the following|write down|consider|imagine|acknowledge|assist|extract|identify|solve|prove|define|provide|prepare|teach|walk me|guide|point|double-?check|let us)\b/iu
const wantsSomething =
  /^(?:i(?:['’]d| would)? (?:like|love|want|need)(?: (?:you|someone|somebody) to| (?:some |a little |your )?(?:help|advice|feedback|ideas|a hand|to (?:know|ask|understand|see|hear|get|check|find out)|an? (?:list|summary|explanation|overview|draft|example|answer|quick))|\s+(?:a|an|some) (?:new )?(?:memory|reminder|notebook|poem|story|recipe|script|function|plan|email|letter|joke|table|chart|outline|essay|list)))\b|^(?:we need you|i(?:['’]m| am) (?:asking|looking for (?:help|advice|ideas|suggestions|someone)|trying to (?:understand|fix|find|figure|get|debug|solve)|getting (?:an?|this|the) \p{L}*\s*(?:error|exception|warning|message|failure)|seeing (?:an?|this) (?:error|exception)|having (?:trouble|problems|issues)|here to|going to (?:ask|tell|show|give|need|paste|send|share)|about to))\b|^(?:i(?:['’]ll| will) (?:ask|tell|show|give|send|paste|share|let you know|be back|try|check|do (?:that|it)|see|wait|get back)|i(?:['’]ve| have) (?:a|another|one more|some) (?:quick )?(?:question|questions|request|favou?r|problem|issue)|i just (?:wanted to|want to)|i was (?:wondering|hoping|asking)|i hope|i have to (?:go|run|leave)|i need to (?:go|run|leave)|i gotta|gotta go|it would be (?:great|nice|good)|that would be|this is (?:a test|just a test))\b/iu
const standing =
  /\b(?:always|never|from now on|from here on|in (?:the )?future|going forward|by default|whenever|every time|each time|at all times|as a rule|without exception|in general|unless i (?:say|ask)|when you (?:write|answer|reply|respond|talk|speak|explain))\b|^(?:please )?(?:you can |feel free to |just )?(?:call me|address me|refer to me|don['’]t (?:ever )?(?:call|use|give|add|write|start|include|make|send|say|apologi[sz]e|explain)|do not (?:ever )?(?:call|use|give|add|write|start|include|make|send|say|apologi[sz]e|explain)|avoid|stop (?:using|writing|adding|saying|calling|apologi[sz]ing|starting|ending|giving|being|repeating|sending)\b(?!\s+(?:this|that|it|them)\b)|stick to|keep (?:your|all|answers|replies|responses) |keep (?:the|it|things) (?!following\b|list\b|notes?\b|file\b)|use (?:metric|imperial|british|american|celsius|fahrenheit|tabs|spaces|short|plain|simple|formal|informal|24|12|snake|camel|kebab|single|double|the oxford|they\/them|she\/her|he\/him)|(?:answer|reply|respond|write|speak|talk)(?: to me)? (?:in|with|only|briefly|concisely|like)|be (?:brief|concise|direct|blunt|formal|informal|honest|terse|short|polite|kind|patient)|no (?:emojis?|emoticons|jargon|fluff|bullet points|exclamation marks|small talk))\b/iu

/** "Order number is 4411", "Plan B: …": the verb is a noun after all. */
const namesSomething =
  /^[\p{L}-]+(?:\s+(?!me\b|us\b|the\b|a\b|an\b|this\b|that\b|it\b|to\b|my\b|your\b|our\b|if\b|what\b|how\b)[\p{L}\p{N}-]+){0,3}(?:\s+(?:is|are|was|were|has|have|had|will|got|=)\s|\s*:\s)/iu

/** A lasting wish of how to be treated: "always answer in English", "call me Sam". */
export const isStandingWish = (text: string): boolean =>
  standing.test(text) &&
  !/^(?:always|never|whenever)\s+(?:has|have|had|was|were|is|am|been|did|do|does|will|would)\b/iu.test(text) &&
  !/^(?:["“'‘]|(?:i|we|he|she|they|it|my|our|the)\b)/iu.test(text)

export const isQuestion = (text: string): boolean => {
  const plain = text.trim()
  if (/\?["'”’)\]*_\s]*$/u.test(plain)) return true
  if (questionOfName.test(plain)) return true
  return (
    questionWords.test(plain) &&
    !(
      clauseNotQuestion.test(plain) &&
      !/^(?:what|where|who|when|how|which)\s+(?:do|does|did|is|are|am|was|were|can|should|would|will|have|has)\b/iu.test(
        plain,
      )
    )
  )
}

/** A condition or an example, with everything else in its sentence. */
export const isSupposed = (text: string): boolean => frames.test(text.trim())

export const isMadeUp = (text: string): boolean => madeUp.test(text.trim())

/** Why a unit gives no belief by the way it is worded; null when it may. `isAsked`: to be remembered, in so many words. */
export function refusalOf(text: string, isAsked: boolean): Reason | null {
  const plain = text.trim()
  if (wholeQuote.test(plain) && !isAsked) return because('quotation', 'All of it is a quotation.')
  if (isQuestion(plain)) return because('question', 'It asks and states nothing.')
  if (frames.test(plain)) return because('hypothetical', 'It is supposed or made up, not said to be so.')
  if (smallTalk.test(plain)) return because('small_talk', 'It is small talk, or about this moment only.')
  if (passing.test(plain)) return because('small_talk', 'It is about this moment only.')
  if (isAnnouncement(plain)) return because('instruction', 'It speaks of what is to be kept, and says nothing of it.')
  if (isStandingWish(plain)) return null
  if (isSpeaker(plain) && /:\s+(?:[Ii]|[Ii]['’]\p{L}+|[Mm]y|[Oo]ur|[Ww]e)\s/u.test(plain))
    return because('quotation', 'It is what somebody else says.')
  if (accordingTo.test(plain) && !isAsked) return because('quotation', 'It tells what somebody else says.')
  if (reported.test(plain) && !isAsked && !/^(?:we|i|you)\b/iu.test(plain))
    return because('quotation', 'It tells what somebody else said.')
  if (imperative.test(plain) && !namesSomething.test(plain))
    return because('instruction', 'It asks for something to be done now.')
  if (wantsSomething.test(plain)) return because('instruction', 'It says what is wanted of this conversation.')
  if (tentative.test(plain)) return because('hypothetical', 'It is only considered, not settled.')
  return null
}
