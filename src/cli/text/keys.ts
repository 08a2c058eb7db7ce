import type { Readable } from 'node:stream'

type Terminal = Readable & { readonly setRawMode?: (isRaw: boolean) => unknown }

/** Reads single keys and lines that a person types. Ctrl-C is an AbortError. */
export class Keys {
  readonly #input: Terminal
  #typed = ''
  #isEnded = false
  #wake: () => void = () => {}

  constructor(input: Terminal) {
    this.#input = input
    input.on('data', this.#take)
    input.once('end', this.#end)
  }

  /** The next key, without Enter; null at the end of the input. */
  async key(): Promise<string | null> {
    this.#input.setRawMode?.(true)
    while (this.#typed === '' && !this.#isEnded) await this.#more()
    const [key = null] = this.#typed
    this.#typed = this.#typed.slice(key?.length ?? 0)
    if (key === '\u0003') throw new DOMException('The question was interrupted.', 'AbortError')
    return key === '\u0004' ? null : key
  }

  /** The next line, which the terminal itself lets the person edit; null at the end of the input. */
  async line(): Promise<string | null> {
    this.#input.setRawMode?.(false)
    while (!/[\r\n]/u.test(this.#typed) && !this.#isEnded) await this.#more()
    if (this.#typed === '') return null
    const [line = ''] = this.#typed.split(/\r?\n|\r/u)
    this.#typed = this.#typed.slice(line.length).replace(/^(?:\r?\n|\r)/u, '')
    return line
  }

  close(): void {
    this.#input.setRawMode?.(false)
    this.#input.off('data', this.#take)
    this.#input.off('end', this.#end)
    this.#input.pause()
  }

  readonly #take = (chunk: Buffer | string): void => {
    this.#typed += chunk.toString('utf8')
    this.#wake()
  }

  readonly #end = (): void => {
    this.#isEnded = true
    this.#wake()
  }

  #more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }
}
