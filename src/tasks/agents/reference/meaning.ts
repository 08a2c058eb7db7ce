import { stem } from './stem.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/u)

/** Words that hold a sentence together and say nothing about what it is about. */
export const functionWords: ReadonlySet<string> = new Set(
  words(`a about above after again all also am an and any anything are as at away be been before being below between both
  but by can could did do does doing done during each either else ever every few for from further had has have having he
  her here hers him his how however i i'd i'll i'm i've if in into is isn't it it's its itself just let let's may maybe me
  might mine more most much must my myself no nor not now of off okay on once one ones only or other our ours out over own
  per perhaps please quite rather really same shall she should so some something still such than thank thanks that that's
  the their theirs them then there there's these they they're this those though through to together too toward towards
  under until up upon us very via was we we'd we're we've well were what what's whatever when when's where where's
  whether which while who who's whom whose why will with within without won't would yes yet you you're your yours aren't
  can't couldn't didn't doesn't don't hadn't hasn't haven't shouldn't wasn't weren't wouldn't i'am im ive whats wheres
  hi hello hey dear ok actually exactly currently already back right earlier previously remember recall remind tell know
  told say said mention mentioned ask asked answer question think believe forgot forget
  我 你 您 他 她 它 们 的 了 是 吗 呢 吧 啊 什 么 哪 里 儿 在 谁 时 候 请 和 个 有 多 少 几 怎 样 这 那 就 也 都 还`),
)

// Each line are words that people use for one another when they ask.
const sameMeaning = new Map(
  `favorite prefer preferred preferable
  begin start commence since
  like love enjoy adore
  hate dislike loathe detest
  live reside base dwell home located move
  job occupation profession career employ employment employed
  spouse wife husband
  phone telephone mobile cell cellphone
  email mail
  birthday birthdate birth dob born
  deadline due
  boss manager supervisor
  colleague coworker teammate
  kid child children
  mother mom mum mama
  father dad papa
  grandmother grandma granny
  grandfather grandpa
  movie film
  buy purchase
  choose pick decide select settle opt
  allergy allergen
  apartment flat
  vacation holiday
  company employer firm
  lawyer counsel attorney solicitor barrister
  quota target goal
  pupil student
  accountant bookkeeper
  cost price fee
  doctor physician dr gp
  marry wedding married
  photo picture
  shop store
  finish end complete
  big large
  small little
  car automobile
  bike bicycle
  university college
  meet meeting
  speak talk
  near close
  passcode pin
  wake rise
  repository repo
  application app
  database db
  environment env
  configuration config
  documentation doc
  anniversary jubilee
  nickname alias
  extension ext`
    .split('\n')
    .flatMap((line) => {
      const [first = '', ...others] = words(line).map(stem)
      return [first, ...others].map((word): [string, string] => [word, first])
    }),
)

/** What a word means, as far as its stem and the words used for it tell. */
export function meaningOf(word: string): string {
  const stemmed = stem(word)
  return sameMeaning.get(stemmed) ?? stemmed
}

/**
 * Words that name the place of an answer rather than what the question is about: a statement about the thing answers
 * them without using them. "What is the name of my project" is answered by "my project is NeonDB".
 */
const placeholders: ReadonlySet<string> = new Set(
  words(`叫 answer call current currently describe description detail exact fact full
  given info information kind name new particular present precise purpose sort specific specify thing title type use
  take put give act find attend best most weird strange odd funny silly nice great lovely
  have own get got go going make mean keep work works working main called named use used using want need plan set`).map(
    meaningOf,
  ),
)

export const isPlaceholder = (meaning: string): boolean => placeholders.has(meaning)

// Everyday kinds of things with members that people name without saying the kind: "I play the cello" tells which
// instrument. Only what belongs to everybody's knowledge, and to no other kind.
const kinds: Readonly<Record<string, string>> = {
  kid: 'son daughter',
  sibling: 'brother sister',
  parent: 'mother father',
  spouse: 'partner fiance fiancee',
  pet: 'dog cat puppy kitten hamster rabbit parrot tortoise goldfish canary budgie gecko',
  animal: 'dog cat puppy kitten hamster rabbit parrot tortoise horse',
  instrument:
    'cello violin viola piano guitar flute clarinet oboe trumpet trombone drum saxophone harp accordion ukulele banjo bass',
  color: `red blue green yellow purple orange pink brown black white gray indigo violet teal turquoise crimson scarlet
    magenta cyan maroon beige ochre lavender burgundy emerald`,
  drink: 'tea coffee water juice beer wine whisky cocoa lemonade espresso cappuccino',
  sport: 'football soccer tennis basketball hockey rugby cricket swimming rowing climbing judo karate badminton squash',
  vehicle: 'car bike van truck motorcycle scooter',
  language: `english french german spanish italian portuguese dutch swedish danish norwegian finnish polish czech russian
    ukrainian greek turkish arabic hebrew persian hindi bengali tamil japanese chinese mandarin korean vietnamese thai
    swahili icelandic hungarian romanian rust python typescript javascript java kotlin haskell erlang elixir clojure
    scala ruby perl fortran cobol zig c++ c# php golang ocaml prolog`,
  database:
    'postgre postgres postgresql mysql sqlite mongodb redis cassandra mariadb clickhouse duckdb cockroachdb neo4j',
  editor: 'vim neovim emacs helix vscode nano kakoune',
  weekday: 'monday tuesday wednesday thursday friday saturday sunday',
  day: 'monday tuesday wednesday thursday friday saturday sunday',
  month: 'january february march april may june july august september october november december',
  diet: 'vegetarian vegan pescatarian kosher halal keto',
  painkiller: 'ibuprofen paracetamol aspirin naproxen diclofenac acetaminophen codeine',
  antibiotic: 'penicillin amoxicillin doxycycline erythromycin azithromycin ciprofloxacin',
  medicine: 'ibuprofen paracetamol aspirin penicillin amoxicillin insulin metformin antibiotic painkiller tablet',
  relative: 'mother father brother sister aunt uncle cousin nephew niece grandmother grandfather',
}

const kindsOfMember = new Map<string, readonly string[]>()
for (const [kind, members] of Object.entries(kinds)) {
  for (const member of words(members)) {
    const key = meaningOf(member)
    kindsOfMember.set(key, [...(kindsOfMember.get(key) ?? []), meaningOf(kind)])
  }
}

/** The kinds of thing that a word of a statement names an example of. */
export const kindsOf = (meaning: string): readonly string[] => kindsOfMember.get(meaning) ?? []

// People are called by what they are to somebody.
const relations: ReadonlySet<string> = new Set(
  words(`aunt boss boyfriend brother buddy client coach colleague cousin coworker dad daughter dentist doctor
  employee father fiance fiancee flatmate friend girlfriend grandfather grandma grandmother grandpa husband kid landlady
  landlord lawyer manager mate mentor mom mother mum neighbor nephew niece nurse parent partner roommate sibling sister
  son spouse supervisor teacher teammate therapist trainer tutor uncle wife`).map(meaningOf),
)

export const isPersonWord = (meaning: string): boolean => relations.has(meaning)
