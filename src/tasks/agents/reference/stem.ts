import { singular } from '../../../search/singular.ts'

// Forms that no ending explains, each with the word it belongs to.
const irregularForms: Readonly<Record<string, string>> = Object.fromEntries(
  `agreed:agree ate:eat eaten:eat became:become began:begin begun:begin born:birth bought:buy brought:bring built:build
  came:come caught:catch chose:choose chosen:choose did:do done:do drank:drink drawn:draw drew:draw driven:drive
  drove:drive fed:feed fell:fall felt:feel flew:fly flown:fly found:find fought:fight gave:give given:give gone:go
  got:get gotten:get grew:grow grown:grow had:have heard:hear held:hold hid:hide hidden:hide kept:keep knew:know
  known:know laid:lay led:lead left:leave lent:lend lost:lose made:make meant:mean met:meet paid:pay ran:run read:read
  rode:ride said:say sang:sing sat:sit saw:see seen:see sent:send slept:sleep sold:sell spent:spend spoke:speak
  spoken:speak stood:stand stole:steal swam:swim swum:swim taken:take taught:teach thought:think threw:throw told:tell
  took:take understood:understand used:use using:use went:go woke:wake won:win wore:wear worn:wear wrote:write written:write
  allergic:allergy allergies:allergy decision:decide choice:choose preference:prefer weight:weigh flight:fly height:tall heavy:weigh marriage:marry
  bigger:big biggest:big`
    .split(/\s+/u)
    .map((pair) => pair.split(':') as [string, string]),
)

const hasVowel = /[aeiouy]/u

/**
 * What remains of a word when its endings are gone, so that "started", "starting" and "starts" are one word. It need not
 * be a word itself. Expects lower case without accents.
 */
export function stem(word: string): string {
  if (!/^[a-z]+$/u.test(word)) return word
  const regular = Object.hasOwn(irregularForms, word) ? (irregularForms[word] as string) : singular(word)
  const base = americanSpelling(Object.hasOwn(irregularForms, regular) ? (irregularForms[regular] as string) : regular)
  return withoutVariableEnd(withoutVerbEnding(base))
}

function withoutVerbEnding(word: string): string {
  const ending = /(?:ing|(?<!e)ed)$/u.exec(word)?.[0]
  if (ending === undefined) return word
  const rest = word.slice(0, -ending.length)
  return rest.length >= 3 && hasVowel.test(rest) ? rest : word
}

/** Endings that come and go: "use" and "using", "plan" and "planned", "study" and "studied". */
const withoutVariableEnd = (word: string): string =>
  word.length <= 3
    ? word
    : word
        .replace(/e$/u, '')
        .replace(/([b-df-hj-np-tv-z])\1$/u, '$1')
        .replace(/y$/u, 'i')

/** "favourite" is "favorite", "organise" is "organize", "centre" is "center". */
const americanSpelling = (word: string): string =>
  word
    .replace(/^(arm|behavi|col|endeav|fav|flav|harb|hon|hum|lab|neighb|rum|sav|vap)our/u, '$1or')
    .replace(/(?<=[a-z]{3})is(e|ed|ing|ation)$/u, 'iz$1')
    .replace(/^(cent|fib|lit|met|theat)re$/u, '$1er')
    .replace(/^grey$/u, 'gray')
    .replace(/^programme$/u, 'program')
