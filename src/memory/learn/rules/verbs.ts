/** Verbs that state facts, with the forms that are not made by rule: base, past, participle. */
const irregular = `be was been|have had had|do did done|go went gone|get got got|make made made|take took taken|give gave given|
come came come|become became become|begin began begun|build built built|buy bought bought|bring brought brought|
catch caught caught|choose chose chosen|cost cost cost|cut cut cut|deal dealt dealt|draw drew drawn|drink drank drunk|
drive drove driven|eat ate eaten|fall fell fallen|feel felt felt|fight fought fought|find found found|fly flew flown|
grow grew grown|hate hated hated|hear heard heard|hit hit hit|hold held held|keep kept kept|know knew known|lead led led|
leave left left|let let let|lie lay lain|lose lost lost|mean meant meant|meet met met|pay paid paid|put put put|
read read read|ride rode ridden|ring rang rung|rise rose risen|run ran run|say said said|see saw seen|sell sold sold|
send sent sent|set set set|shoot shot shot|sing sang sung|sit sat sat|sleep slept slept|speak spoke spoken|
spend spent spent|split split split|stand stood stood|swim swam swum|teach taught taught|tell told told|
think thought thought|throw threw thrown|understand understood understood|wake woke woken|wear wore worn|win won won|
write wrote written|weigh weighed weighed|bear bore born|stick stuck stuck|shut shut shut|hang hung hung|hide hid hidden|feed fed fed|forget forgot forgotten|light lit lit|sweep swept swept|hurt hurt hurt|bet bet bet|
break broke broken|freeze froze frozen|steal stole stolen|shake shook shaken|blow blew blown|bite bit bitten|
bend bent bent|lend lent lent|lay laid laid|tear tore torn|sink sank sunk|spin spun spun|strike struck struck|
swear swore sworn|swing swung swung|seek sought sought|shine shone shone|breed bred bred|weave wove woven|
undergo underwent undergone|oversee oversaw overseen|dig dug dug|bleed bled bled|show showed shown|grind ground ground`

const regular = `accept adopt add agree aim allow answer apply appear arrive ask assign attend avoid bake belong bill block book call cancel
care carry celebrate change charge clean close code collect commute compose conduct connect contain contract control cook cover
crash create cross cycle dance decide deliver depart depend deploy design despise detest develop direct dislike divorce donate
double drop earn edit employ end enjoy enrol enroll enter exercise expect expire export face fail fill finish fish fix flag
follow graduate grill guard handle happen help hike hire host hunt identify implement import include inherit inspect install
intend invest invite issue jog join kick lack last launch learn like link list listen live load locate look love maintain
manage marry matter measure mentor migrate miss mix move name need negotiate offer open operate opt order organise organize own
paint park pass pick plan plant play point practice practise prefer prepare present print produce program publish pull push
rank reach receive recommend recycle refactor refuse register release rely remain remove rename rent renew repair replace
report represent require research reserve resign rest retire return review roast root save schedule score search seat serve
settle share ship shop sign skate ski skip smoke sponsor sprint staff start stay steer stock stop store study subscribe suffer
supervise supply support swap switch talk target taste tend test text thank tolerate tour trace track trade train transfer
translate travel treat trust try turn tutor type update upgrade use value vary view visit volunteer wait walk want warn wash
watch water weld welcome wish work worry write yield found own adore allergic host store import export collaborate coach chair
captain moderate pronounce spell approve acquire appoint award borrow brew compete complete confirm consult cure diagnose elect
endorse establish evaluate fund gain govern harvest heal improve injure insure introduce investigate knit land lecture license
mark merge monitor nominate observe occupy oppose pack participate perform photograph pitch possess postpone prescribe preserve
process promise promote propose prove provide raise recover reduce relocate rescue restore revise rotate sail season select
separate sew shift solve span specialise specialize submit succeed suit surf survive tackle terminate thrive tune validate
verify vote wrap moor anchor graze prune compost mill perch nest cater babysit foster homeschool act appeal draft sue plead
beat head prescribe owe rehearse sow climb crave chew chat complain forage gather greet juggle kayak lean meditate mend mow
narrate peel pour pray preach recite refill relax repeat roam scream sculpt shave shout sketch snore stammer stretch struggle
stutter sweat tidy trim unload unpack whistle wipe wrestle yell dine dislocate exist insist resent coordinate chase dive`

export type VerbForm = 'base' | 'third' | 'past' | 'participle' | 'gerund'
export type Verb = {
  readonly lemma: string
  readonly third: string
  readonly past: string
  readonly participle: string
  readonly gerund: string
}

const doubling = /^(?:[a-z]*[^aeiou])?[aeiou][bdgklmnprt]$/u
const neverDoubled =
  /(?:en|er|it|et|or|on|ok|ed|al|op|ip|ain|ail|ead|eed|oan|ook|eek|eet|oat|eep|oin|oot|uit|ead|eat|eal|ear|eam|air|oad|oup|our|out|ount)$/u
const doubledAnyway =
  /^(?:plan|ship|stop|shop|drop|swap|skip|split|run|get|put|sit|set|cut|hit|let|win|begin|swim|opt|prefer|refer|transfer|program|jog|bet|shut)$/u

const stemOf = (base: string): string => {
  if (/[^e]e$/u.test(base) && !/(?:ye|oe)$/u.test(base)) return base.slice(0, -1)
  const isDoubled = doubledAnyway.test(base) || (doubling.test(base) && base.length <= 4 && !neverDoubled.test(base))
  return isDoubled ? base + base.at(-1) : base
}

function verbOf(lemma: string, past?: string, participle?: string): Verb {
  const third = /[^aeiou]y$/u.test(lemma)
    ? `${lemma.slice(0, -1)}ies`
    : /(?:s|x|z|ch|sh|o)$/u.test(lemma)
      ? `${lemma}es`
      : `${lemma}s`
  const regularPast = /[^aeiou]y$/u.test(lemma)
    ? `${lemma.slice(0, -1)}ied`
    : lemma.endsWith('e')
      ? `${lemma}d`
      : `${stemOf(lemma)}ed`
  const gerund = lemma.endsWith('ie')
    ? `${lemma.slice(0, -2)}ying`
    : lemma.endsWith('ee')
      ? `${lemma}ing`
      : `${stemOf(lemma)}ing`
  return { lemma, third, past: past ?? regularPast, participle: participle ?? past ?? regularPast, gerund }
}

const special: Readonly<Record<string, Verb>> = {
  have: { lemma: 'have', third: 'has', past: 'had', participle: 'had', gerund: 'having' },
  do: { lemma: 'do', third: 'does', past: 'did', participle: 'done', gerund: 'doing' },
  go: { lemma: 'go', third: 'goes', past: 'went', participle: 'gone', gerund: 'going' },
  be: { lemma: 'be', third: 'is', past: 'was', participle: 'been', gerund: 'being' },
  see: { lemma: 'see', third: 'sees', past: 'saw', participle: 'seen', gerund: 'seeing' },
  ski: { lemma: 'ski', third: 'skis', past: 'skied', participle: 'skied', gerund: 'skiing' },
  opt: { lemma: 'opt', third: 'opts', past: 'opted', participle: 'opted', gerund: 'opting' },
}

const verbs: readonly Verb[] = [
  ...irregular.split('|').map((line) => {
    const [lemma = '', past, participle] = line.trim().split(/\s+/u)
    return special[lemma] ?? verbOf(lemma, past, participle)
  }),
  ...regular.split(/\s+/u).flatMap((lemma) => (lemma === '' ? [] : [special[lemma] ?? verbOf(lemma)])),
]

const byForm = new Map<string, { readonly verb: Verb; readonly form: VerbForm }[]>()
for (const verb of verbs) {
  const forms: readonly (readonly [VerbForm, string])[] = [
    ['base', verb.lemma],
    ['third', verb.third],
    ['past', verb.past],
    ['participle', verb.participle],
    ['gerund', verb.gerund],
  ]
  for (const [form, word] of forms) {
    const known = byForm.get(word) ?? []
    if (!known.some((one) => one.verb.lemma === verb.lemma && one.form === form)) known.push({ verb, form })
    byForm.set(word, known)
  }
}

/** Which verb a word is a form of, if it can be one. */
export function verbForms(word: string): readonly { readonly verb: Verb; readonly form: VerbForm }[] {
  return byForm.get(word.toLowerCase()) ?? []
}

/** The verb a word is the given form of; undefined when it is none. */
export const asForm = (word: string, ...forms: readonly VerbForm[]): Verb | undefined =>
  verbForms(word).find(({ form }) => forms.includes(form))?.verb

/** Forms of "be" and helping verbs, which are never nouns. */
export const auxiliaries: ReadonlySet<string> = new Set(
  `is are was were am be been isn't aren't wasn't weren't has have had hasn't haven't hadn't will won't would wouldn't can can't
  cannot could couldn't should shouldn't must mustn't may might shall does doesn't do don't did didn't dont doesnt didnt isnt arent wasnt cant wont hasnt havent im ive`.split(
    /\s+/u,
  ),
)

/** "is", "are", "was", "were" and their short forms. */
export const copulas: ReadonlySet<string> = new Set(`is are was were isn't aren't wasn't weren't am will`.split(/\s+/u))
