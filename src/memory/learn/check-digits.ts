/** Whether the check digit of a card number is correct (ISO/IEC 7812, Luhn). */
export function isCardNumber(written: string): boolean {
  const digits = [...written].filter((character) => /\d/u.test(character)).map(Number)
  if (digits.length < 13 || digits.length > 19 || new Set(digits).size < 2) return false
  const sum = digits.reverse().reduce((total, digit, index) => {
    const counted = index % 2 === 0 ? digit : digit * 2
    return total + (counted > 9 ? counted - 9 : counted)
  }, 0)
  return sum % 10 === 0
}

/** The length of the IBAN (ISO 13616) at the beginning of a text; 0 if there is none. Other words may follow it. */
export function accountNumberLength(written: string): number {
  for (let length = written.length; length >= 15; length -= 1) {
    const isWhole = length === written.length || !/[A-Z0-9]/iu.test(written[length] as string)
    if (isWhole && isAccountNumber(written.slice(0, length))) return length
  }
  return 0
}

/** An IBAN, read as a number, is 1 modulo 97. */
function isAccountNumber(written: string): boolean {
  const plain = written.replace(/[ -]/gu, '').toUpperCase()
  // An IBAN has at least 12 digits; a product number with words after it has fewer.
  if (plain.length < 15 || plain.length > 34 || plain.replace(/\D/gu, '').length < 12) return false
  const turned = `${plain.slice(4)}${plain.slice(0, 4)}`
  let rest = 0
  for (const character of turned) {
    const value = Number.parseInt(character, 36)
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97
  }
  return rest === 1
}
