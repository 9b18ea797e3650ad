/** Pairs what was said to the model with what it answered: the entries of a history, in strict turns. */
import { stringOf } from '../../lib/object.ts'
import { wellFormed } from '../../lib/text.ts'
import { never } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { change } from '../../model/replay/change.ts'
import type { Facts } from '../../model/replay/extension.ts'
import {
  type Answer,
  attachmentsIn,
  callsIn,
  type Group,
  type Step,
  textsIn,
  wordsIn,
} from '../../model/replay/step.ts'
import { noteOf } from '../../model/replay/words.ts'
import type { UserMessage } from '../message.ts'
import { EMPTY_METADATA, type HistoryEntry, type Summary } from '../record.ts'
import { Inflow, type UserSide } from './inflow.ts'
import { type Naming, type Use, useOf } from './uses.ts'

/** An entry, and what it was made of. */
export interface Pair {
  readonly entry: HistoryEntry
  /** Groups whose records belong to it: it is the first that says something of them. */
  readonly begins: readonly Group[]
  /** All groups of which it says something. */
  readonly tells: ReadonlySet<Group>
  readonly facts: PairFacts | undefined
}

/** What the form has no place for; goes into the entry's extension. */
export interface PairFacts extends Facts {
  /** `prompt`, `answer`, or the id of a result: nobody said it, but the program needs it. */
  readonly made?: readonly string[]
  readonly not_cancelled?: true
}

export interface Ended {
  readonly pairs: readonly Pair[]
  /** The message that was not sent yet. */
  readonly next: UserMessage | null
  /** Groups of which no pair says anything. */
  readonly left: readonly Group[]
}

/** Said by nobody: the program wants a prompt first, and an answer to everything. */
const START = '(start of imported conversation)'
const GOES_ON = '(the conversation goes on)'
const NO_ANSWER = '(no response recorded)'

interface Open extends UserSide {
  readonly texts: string[]
  readonly uses: (Use & { readonly group: Group })[]
  message_id: string | null
  readonly made: string[]
  readonly begins: Group[]
  readonly tells: Set<Group>
}

export class Pairs {
  readonly #naming: Naming
  readonly #inflow: Inflow
  /** The last pair: the model may go on speaking. */
  #open: Open | undefined
  /** Groups of what was said since the last answer. */
  #groups = new Set<Group>()
  readonly #begun = new WeakSet<Group>()
  #isFirst = true
  /** The texts of summaries that stand before all. */
  readonly summaries: string[] = []

  constructor(naming: Naming, cwd: string | undefined) {
    this.#naming = naming
    this.#inflow = new Inflow(naming, cwd)
  }

  /** Pairs that are not given yet. */
  get open(): number {
    return this.#open ? 1 : 0
  }

  /** The program's own message that was not sent yet: what is said next answers it. */
  wait(user: UserMessage): void {
    this.#inflow.give(user)
  }

  /** Gives the pairs to which nothing can be added any more. */
  take(step: Step): readonly Pair[] {
    if (step.kind !== 'answer') this.#note(step.group)
    switch (step.kind) {
      case 'aside':
        return NONE
      case 'instruction':
        if (step.isSummary && this.#isFirst && this.#inflow.isSilent)
          this.summaries.push(textsIn(step.message).join('\n\n'))
        else this.#inflow.instruct(step.message)
        return NONE
      case 'prompt': {
        const before = this.#inflow.given ? this.#unanswered() : NONE
        if (step.isInjected) this.#inflow.instruct(step.message)
        else this.#inflow.prompt(step.message, step.isPending)
        return before
      }
      case 'orphan': {
        const before = this.#inflow.given ? this.#unanswered() : NONE
        this.#inflow.orphan(step)
        return before
      }
      case 'answer':
        return this.#answer(step)
      default:
        return never(step)
    }
  }

  /** Entries that are written as they were follow: all that was said stands before them. */
  interrupt(): readonly Pair[] {
    const before = this.#needsAnswer() ? this.#unanswered() : NONE
    return [...before, ...this.#last()]
  }

  end(): Ended {
    const results = this.#open?.uses.flatMap(({ call }) => call.result ?? []) ?? []
    const isSaid = !this.#inflow.isSilent || results.length > 0
    const isWaiting = isSaid && this.#inflow.isPending && results.every(({ isPending }) => isPending)
    const next = isWaiting ? this.#inflow.close(this.#open?.uses ?? []).user : null
    // What waits is not answered here, and its results are told with it.
    const pairs = isWaiting ? this.#last() : this.interrupt()
    return { pairs, next, left: [...this.#groups] }
  }

  #last(): readonly Pair[] {
    this.#settle()
    this.#isFirst = false
    return this.#closed()
  }

  /** Calls at the very end may stay without results: the program cancels them itself. */
  #needsAnswer(): boolean {
    if (!this.#inflow.isSilent || this.#open?.uses.some(({ call }) => call.result)) return true
    return this.#inflow.hasContext
  }

  #unanswered(): readonly Pair[] {
    const { open, before } = this.#next()
    open.texts.push(NO_ANSWER)
    open.made.push('answer')
    this.#naming.repair(change('answer_made', NO_ANSWER))
    return before
  }

  #answer(step: Answer): readonly Pair[] {
    const words = wordsIn(step)
    // What the server ran is told by nobody else: it has neither call nor result here.
    const calls = callsIn(step).filter(({ isServed }) => !isServed)
    if (words.length === 0 && calls.length === 0) {
      this.#note(step.group)
      return NONE
    }
    const isHeard = !this.#inflow.isSilent || this.#inflow.hasContext
    const goesOn = !isHeard && this.#open?.uses.length === 0 ? this.#open : undefined
    const { open, before } = goesOn ? { open: goesOn, before: NONE } : this.#next()
    open.texts.push(...words.map(textOf).filter((text) => text !== ''))
    for (const call of calls) open.uses.push({ ...useOf(call, this.#naming), group: step.group })
    open.message_id ??= stringOf((words[0] ?? calls[0]?.message)?.metadata?.['message_id']) ?? null
    this.#note(step.group)
    this.#settle()
    return before
  }

  /** Opens a pair with all that was said since the last one. */
  #next(): { readonly open: Open; readonly before: readonly Pair[] } {
    const uses = this.#open?.uses ?? []
    const isSilent = this.#inflow.isSilent && uses.length === 0
    const side = this.#inflow.close(uses)
    const before = this.#closed()
    const open: Open = {
      user: isSilent ? { ...side.user, content: { Prompt: { prompt: this.#madePrompt() } } } : side.user,
      made: isSilent ? ['prompt'] : [...side.made],
      notCancelled: side.notCancelled,
      texts: [],
      uses: [],
      message_id: null,
      begins: [],
      tells: new Set(uses.map(({ group }) => group)),
    }
    this.#open = open
    this.#isFirst = false
    this.#settle()
    return { open, before }
  }

  #madePrompt(): string {
    const text = this.#isFirst ? START : GOES_ON
    this.#naming.repair(change('prompt_made', text))
    return text
  }

  #closed(): readonly Pair[] {
    const open = this.#open
    this.#open = undefined
    if (!open) return NONE
    const { user, begins, tells } = open
    return [{ entry: { user, assistant: answerOf(open), request_metadata: null }, begins, tells, facts: factsOf(open) }]
  }

  #note(group: Group): void {
    this.#groups.add(group)
  }

  /** What was said belongs to the open pair. */
  #settle(): void {
    const open = this.#open
    if (!open) return
    for (const group of this.#groups) {
      open.tells.add(group)
      if (!this.#begun.has(group)) open.begins.push(group)
      this.#begun.add(group)
    }
    // A set that is cleared keeps its old table, which holds on to the new one: all that was ever in it would live longer.
    this.#groups = new Set()
  }
}

const NONE: readonly Pair[] = []

function answerOf({ texts, uses, message_id }: Open): HistoryEntry['assistant'] {
  const content = wellFormed(texts.join('\n\n'))
  if (uses.length === 0) return { Response: { message_id, content } }
  return { ToolUse: { message_id, content, tool_uses: uses.map(({ use }) => use) } }
}

function factsOf({ made, notCancelled }: Open): PairFacts | undefined {
  if (made.length === 0 && !notCancelled) return undefined
  return { ...(made.length > 0 && { made }), ...(notCancelled && { not_cancelled: true }) }
}

const textOf = (message: NormalizedMessage): string =>
  [
    ...message.segments.map(({ text, media }) => text ?? noteOf({ format: 'image', url: media?.url })),
    ...attachmentsIn(message).map(noteOf),
  ].join('\n\n')

/** What asked for it is not known. */
export const summaryOf = (texts: readonly string[]): Summary => [
  wellFormed(texts.join('\n\n')),
  { ...EMPTY_METADATA, message_meta_tags: ['Compact'] },
]
