import { pieces, type Stretch } from '../format/pieces.ts'

/** A text with some stretches of it marked. Whatever overlaps or lies outside is joined or cut. */
export function Highlighted({ text, stretches }: { readonly text: string; readonly stretches: readonly Stretch[] }) {
  return (
    <>
      {pieces(text, stretches).map(({ words, isMarked, start }) =>
        isMarked ? <mark key={start}>{words}</mark> : words,
      )}
    </>
  )
}
