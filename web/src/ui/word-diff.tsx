import { diffWordsWithSpace } from 'diff'

/** Longer texts are shown whole, one after the other: comparing them word by word would take too long to read anyway. */
const longest = 20_000

/** Two versions of a text in one, with the words marked that went and those that came. */
export function WordDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const parts =
    before.length + after.length > longest
      ? [
          { value: before, removed: true, added: false },
          { value: after, removed: false, added: true },
        ]
      : diffWordsWithSpace(before, after)
  return (
    <p class="word-diff" dir="auto">
      {parts.map(({ value, added, removed }, index) =>
        removed ? (
          <del key={index}>
            <span class="unseen">removed: </span>
            {value}
          </del>
        ) : added ? (
          <ins key={index}>
            <span class="unseen">added: </span>
            {value}
          </ins>
        ) : (
          value
        ),
      )}
    </p>
  )
}
