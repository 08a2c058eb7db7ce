/** A sentence of the program's own in which `backticks` stand around what is typed into a terminal. */
export function Worded({ text }: { readonly text: string }) {
  return (
    <>{text.split(/`([^`]+)`/).map((piece, index) => (index % 2 === 1 ? <code key={index}>{piece}</code> : piece))}</>
  )
}
