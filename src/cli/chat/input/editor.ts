/** A prompt while it is typed: what each key does. Draws nothing and reads nothing. */
import { typable } from '../../../lib/text.ts'
import { droppedFile } from './dropped-file.ts'
import type { Key } from './keys.ts'
import { type Completer, commonBeginning, type Offer } from './offer.ts'
import { Recall } from './recall.ts'
import {
  after,
  before,
  chunkBefore,
  cut,
  EMPTY,
  endOfLine,
  insert,
  lineAbove,
  lineBelow,
  lineOf,
  move,
  startOfLine,
  type TextLine,
  wordAfter,
  wordBefore,
} from './text-line.ts'

export type Action =
  | { readonly kind: 'none' }
  | { readonly kind: 'submit'; readonly text: string }
  /** Control-C on an empty line. */
  | { readonly kind: 'interrupt' }
  /** Control-D on an empty line. */
  | { readonly kind: 'end' }
  | { readonly kind: 'clear_screen' }
  | { readonly kind: 'suspend' }

export interface EditorOptions {
  readonly recall?: Recall
  readonly complete?: Completer
}

interface Search {
  readonly words: string
  readonly found: { readonly text: string; readonly at: number } | undefined
  readonly line: TextLine
}

const NONE: Action = { kind: 'none' }

export class Editor {
  #line: TextLine = EMPTY
  #offers: readonly Offer[] = []
  #search: Search | undefined
  #killed = ''
  readonly #recall: Recall
  readonly #complete: Completer

  constructor({ recall = new Recall(), complete = () => ({ from: 0, all: [] }) }: EditorOptions = {}) {
    this.#recall = recall
    this.#complete = complete
  }

  get line(): TextLine {
    return this.#search ? lineOf(this.#search.found?.text ?? '') : this.#line
  }

  /** What Tab found, while there is a choice. */
  get offers(): readonly Offer[] {
    return this.#offers
  }

  /** The words that are looked for, while some are; null where nothing has them. */
  get search(): { readonly words: string; readonly isFound: boolean } | undefined {
    return this.#search && { words: this.#search.words, isFound: this.#search.found !== undefined }
  }

  press(key: Key): Action {
    this.#offers = []
    if (this.#search) return this.#searching(this.#search, key)
    if (key.kind === 'text') return this.#set(insert(this.#line, key.text))
    if (key.kind === 'paste') return this.#set(insert(this.#line, droppedFile(key.text) ?? pasted(key.text)))
    const moved = MOVES[key.name]?.(this.#line)
    if (moved !== undefined) return this.#set(move(this.#line, moved))
    const cutTo = CUTS[key.name]?.(this.#line)
    if (cutTo !== undefined && !(key.name === 'C-d' && this.#line.text === '')) return this.#cut(key.name, cutTo)
    return this.#command(key.name)
  }

  #command(name: string): Action {
    switch (name) {
      case 'enter':
        return this.#enter()
      case 'M-enter':
      case 'C-j':
        return this.#set(insert(this.#line, '\n'))
      case 'tab':
        return this.#tab()
      case 'up':
      case 'C-p':
        return this.#goTo(lineAbove(this.#line), () => this.#recall.older(this.#line.text))
      case 'down':
      case 'C-n':
        return this.#goTo(lineBelow(this.#line), () => this.#recall.newer())
      case 'C-r':
        this.#search = { words: '', found: undefined, line: this.#line }
        return NONE
      case 'C-y':
        return this.#set(insert(this.#line, this.#killed))
      case 'C-c':
        if (this.#line.text === '') return { kind: 'interrupt' }
        this.#recall.rest()
        return this.#set(EMPTY)
      case 'C-d':
        return { kind: 'end' }
      case 'C-l':
        return { kind: 'clear_screen' }
      case 'C-z':
        return { kind: 'suspend' }
      default:
        return NONE
    }
  }

  #set(line: TextLine): Action {
    this.#line = line
    return NONE
  }

  #cut(name: string, to: number): Action {
    const { line, taken } = cut(this.#line, to)
    if (!/^(?:backspace|delete|C-d)$/.test(name)) this.#killed = taken
    return this.#set(line)
  }

  /** A backslash at the end asks for another line. */
  #enter(): Action {
    const { text, at } = this.#line
    if (at === text.length && text.endsWith('\\')) return this.#set(lineOf(`${text.slice(0, -1)}\n`))
    this.#recall.rest()
    return { kind: 'submit', text }
  }

  /** Within the text first, then to what was typed before. */
  #goTo(place: number | undefined, recalled: () => string | undefined): Action {
    if (place !== undefined) return this.#set(move(this.#line, place))
    const text = recalled()
    return text === undefined ? NONE : this.#set(lineOf(text))
  }

  #tab(): Action {
    const { from, all } = this.#complete(this.#line)
    const [only] = all
    if (!only) return NONE
    const put = (text: string): Action => this.#set(insert(cut(this.#line, from).line, text))
    if (all.length === 1) return put(only.isOpen ? only.text : `${only.text} `)
    this.#offers = all
    return put(commonBeginning(all))
  }

  #searching(search: Search, key: Key): Action {
    const { words, found } = search
    if (key.kind !== 'key') return this.#look(words + key.text, found && found.at + 1)
    if (key.name === 'backspace') return this.#look(words.slice(0, -1))
    if (key.name === 'C-r') return this.#look(words, found?.at)
    this.#search = undefined
    if (key.name === 'C-g' || key.name === 'C-c') return this.#set(search.line)
    this.#line = found ? lineOf(found.text) : search.line
    return key.name === 'escape' || key.name === 'tab' ? NONE : this.press(key)
  }

  /** What was found stays where nothing older has the words. */
  #look(words: string, before?: number): Action {
    if (!this.#search) return NONE
    const found = words === '' ? undefined : this.#recall.find(words, before)
    const isOlder = words === this.#search.words
    this.#search = { ...this.#search, words, found: found ?? (isOlder ? this.#search.found : undefined) }
    return NONE
  }
}

const pasted = (text: string): string => typable(text)

type Place = (line: TextLine) => number

const MOVES: { readonly [name: string]: Place } = {
  left: before,
  'C-b': before,
  right: after,
  'C-f': after,
  home: startOfLine,
  'C-a': startOfLine,
  end: endOfLine,
  'C-e': endOfLine,
  'C-left': wordBefore,
  'M-left': wordBefore,
  'M-b': wordBefore,
  'C-right': wordAfter,
  'M-right': wordAfter,
  'M-f': wordAfter,
  'C-home': () => 0,
  'C-end': ({ text }) => text.length,
}

const CUTS: { readonly [name: string]: Place } = {
  backspace: before,
  delete: after,
  'C-d': after,
  'C-w': chunkBefore,
  'M-backspace': wordBefore,
  'M-d': wordAfter,
  'C-u': startOfLine,
  'C-k': endOfLine,
}
