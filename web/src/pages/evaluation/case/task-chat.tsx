import type { RouteAnswer } from '../../../../../src/http/api/contract.ts'
import { counted } from '../../../format/numbers.ts'
import type { Stretch } from '../../../format/pieces.ts'
import { Badge } from '../../../ui/badge.tsx'
import { Highlighted } from '../../../ui/highlighted.tsx'

type Work = RouteAnswer<'case'>['work'][number]
type Check = Work['checks'][number]

/** What an agent was told and asked, and what it answered, session by session, with the checks beside the answers. */
export function TaskChat({ work }: { readonly work: Work }) {
  return (
    <div class="stack">
      {work.sessions.map((session, index) => {
        const checks = work.checks.filter((check) => check.session === session.id)
        return (
          <section key={session.id} class="chat" aria-label={`Session ${session.id}`}>
            <h3 class="chat-session">
              Session {index + 1}: {session.id} <Badge>{session.isFresh ? 'fresh' : 'goes on'}</Badge>
              {session.toolCalls === 0 ? null : <Badge>{counted(session.toolCalls, 'tool call')}</Badge>}
              {session.outcome === 'answered' ? null : <Badge tone="bad">{session.outcome}</Badge>}
            </h3>
            <div class="bubble user">
              <span class="bubble-who">Told</span>
              <p class="prose" dir="auto">
                <Highlighted text={session.prompt} stretches={stretchesIn(session.prompt, work.checks)} />
              </p>
            </div>
            <div class="bubble assistant" id={placeOf(session.id, -1)} tabIndex={-1}>
              <span class="bubble-who">Agent</span>
              <p class="prose" dir="auto">
                {session.answer === null || session.answer.trim() === ''
                  ? '(no answer)'
                  : sentencesOf(session.answer).map((sentence, at) => (
                      <span key={placeOf(session.id, at)} id={placeOf(session.id, at)} class="sentence" tabIndex={-1}>
                        <Highlighted text={sentence} stretches={stretchesIn(sentence, checks)} />
                      </span>
                    ))}
              </p>
            </div>
            {checks.length === 0 ? null : (
              <ul class="checks">
                {checks.map((check) => (
                  <li key={check.id}>
                    <Badge tone={check.passed ? 'good' : 'bad'}>{check.passed ? 'found' : 'missing'}</Badge>{' '}
                    <JudgedLink check={check} place={placeOf(session.id, judgedAt(session.answer ?? '', check))} />{' '}
                    <span class="break" title={check.expected}>
                      expected {expectedWords(check.expected)}
                    </span>
                    {check.passed ? null : <span class="soft break"> · found {check.found}</span>}
                  </li>
                ))}
              </ul>
            )}
          </section>
        )
      })}
    </div>
  )
}

const placeOf = (session: string, sentence: number): string =>
  sentence < 0 ? `answer-${session}` : `answer-${session}-${sentence}`

const sentencesOf = (text: string): readonly string[] =>
  [...new Intl.Segmenter('en', { granularity: 'sentence' }).segment(text)].map(({ segment }) => segment)

/** The way from a check to the sentence that it judges, or to the whole answer where no sentence holds its value. */
function JudgedLink({ check, place }: { readonly check: Check; readonly place: string }) {
  const go = (event: Event) => {
    event.preventDefault()
    const sentence = document.getElementById(place)
    sentence?.scrollIntoView({ block: 'center' })
    sentence?.focus({ preventScroll: true })
  }
  return (
    <a class="mono" href={`#${place}`} title="Show the sentence that it judges" onClick={go}>
      {check.id}
    </a>
  )
}

/** The number of the sentence with a value that a check wants; for one that failed also with one that it forbids. */
function judgedAt(answer: string, { expected, passed }: Check): number {
  const values = [...expected.matchAll(quoted)].flatMap(([, not, value = '']) =>
    value.length < 2 || (passed && not !== undefined) ? [] : [value.toLowerCase()],
  )
  return sentencesOf(answer).findIndex((sentence) => values.some((value) => sentence.toLowerCase().includes(value)))
}

/** More values than this are told by their number. */
const mostValues = 5

function expectedWords(expected: string): string {
  const values = [...expected.matchAll(quoted)]
  const wanted = values.filter(([, not]) => not === undefined)
  if (values.length <= mostValues || wanted.length < 2) return expected
  const unwanted = values.length - wanted.length
  const named = wanted.slice(0, 3).map(([value]) => value)
  const others = wanted.length - named.length
  return `${named.join(', ')}${others === 0 ? '' : ` or ${counted(others, 'similar word')}`}${unwanted === 0 ? '' : ` and none of ${counted(unwanted, 'other')}`}`
}

/** A quoted value of a check, as in `"May 21" or "21 May", not "May 7"`, and whether it must not be there. */
const quoted = /(not )?"([^"]*)"/g

/** The first place in a text of each value that its checks want. */
function stretchesIn(text: string, checks: readonly Check[]): readonly Stretch[] {
  const lower = text.toLowerCase()
  return checks.flatMap(({ expected }) =>
    [...expected.matchAll(quoted)].flatMap(([, not, value = '']) => {
      const start = not !== undefined || value.length < 2 ? -1 : lower.indexOf(value.toLowerCase())
      return start < 0 ? [] : [{ start, end: start + value.length }]
    }),
  )
}
