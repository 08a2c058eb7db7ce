/** A number and how it was computed. The value of a node is computed by combining the values of its parts with `op`. */
export type Explanation = {
  readonly value: number
  readonly label: string
  readonly op: 'leaf' | 'sum' | 'product'
  readonly parts: readonly Explanation[]
}

export const leaf = (label: string, value: number): Explanation => ({ value, label, op: 'leaf', parts: [] })

export const sum = (label: string, parts: readonly Explanation[]): Explanation => ({
  value: parts.reduce((total, part) => total + part.value, 0),
  label,
  op: 'sum',
  parts,
})

export const product = (label: string, parts: readonly Explanation[]): Explanation => ({
  value: parts.reduce((total, part) => total * part.value, 1),
  label,
  op: 'product',
  parts,
})

/** Computes the value again from the leaves alone. The result equals `value` for every explanation that the functions above build. */
export function recompute(explanation: Explanation): number {
  switch (explanation.op) {
    case 'leaf':
      return explanation.value
    case 'sum':
      return explanation.parts.reduce((total, part) => total + recompute(part), 0)
    case 'product':
      return explanation.parts.reduce((total, part) => total * recompute(part), 1)
  }
}
