/** Pairs what was said to the model with what it answered: the entries of a history, in strict turns. */

import { toWellFormed } from '../../lib/text.ts'
import { assertNever } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import { toConversionChange } from '../../model/replay/conversion-change.ts'
import type { ElementFacts } from '../../model/replay/extension.ts'
import {
  type AnswerStep,
  attachmentNote,
  attachmentsOf,
  callsOfAnswer,
  type RecordGroup,
  type ReplayStep,
  textMessagesOf,
  textsOfMessage,
} from '../../model/replay/step.ts'
import type { UserMessage } from '../message.ts'
import { EMPTY_METADATA, type HistoryEntry, type Summary } from '../record.ts'
import { PendingInput, toToolUse, type UseNaming, type UserInput, type WrittenToolUse } from './pending-input.ts'

/** An entry, and what it was made of. */
export interface EntryPair {
  readonly entry: HistoryEntry
  /** Groups whose records belong to it: it is the first that says something of them. */
  readonly ownGroups: readonly RecordGroup[]
  /** All groups of which it says something. */
  readonly allGroups: ReadonlySet<RecordGroup>
  readonly facts: PairFacts | undefined
}

/** What the form has no place for; goes into the entry's extension. */
export interface PairFacts extends ElementFacts {
  /** `prompt`, `answer`, or the id of a result: nobody said it, but the program needs it. */
  readonly made?: readonly string[]
  readonly not_cancelled?: true
}

export interface RemainingPairs {
  readonly pairs: readonly EntryPair[]
  /** The message that was not sent yet. */
  readonly next: UserMessage | null
  /** Groups of which no pair says anything. */
  readonly unusedGroups: readonly RecordGroup[]
}

/** Said by nobody: the program wants a prompt first, and an answer to everything. */
const IMPORT_START_PROMPT = '(start of imported conversation)'
const CONTINUED_PROMPT = '(the conversation goes on)'
const NO_ANSWER = '(no response recorded)'

interface OpenPair extends UserInput {
  readonly texts: string[]
  readonly uses: (WrittenToolUse & { readonly group: RecordGroup })[]
  message_id: string | null
  readonly synthetic: string[]
  readonly ownGroups: RecordGroup[]
  readonly allGroups: Set<RecordGroup>
}

export class EntryPairs {
  readonly #naming: UseNaming
  readonly #input: PendingInput
  /** The last pair: the model may go on speaking. */
  #open: OpenPair | undefined
  /** Groups of what was said since the last answer. */
  #groups = new Set<RecordGroup>()
  readonly #ownedGroups = new WeakSet<RecordGroup>()
  #isAtStart = true
  /** The texts of summaries that stand before all. */
  readonly summaries: string[] = []

  constructor(naming: UseNaming, cwd: string | undefined) {
    this.#naming = naming
    this.#input = new PendingInput(naming, cwd)
  }

  /** Pairs that are not given yet. */
  get open(): number {
    return this.#open ? 1 : 0
  }

  /** The program's own message that was not sent yet: what is said next answers it. */
  setPending(user: UserMessage): void {
    this.#input.setNativeMessage(user)
  }

  /** Gives the pairs to which nothing can be added any more. */
  add(step: ReplayStep): readonly EntryPair[] {
    if (step.kind !== 'answer') this.#addGroup(step.group)
    switch (step.kind) {
      case 'aside':
        return NO_PAIRS
      case 'instruction':
        if (step.isSummary && this.#isAtStart && this.#input.isEmpty)
          this.summaries.push(textsOfMessage(step.message).join('\n\n'))
        else this.#input.addInstruction(step.message)
        return NO_PAIRS
      case 'prompt': {
        const before = this.#input.nativeMessage ? this.#unanswered() : NO_PAIRS
        if (step.isInjected) this.#input.addInstruction(step.message)
        else this.#input.addPrompt(step.message, step.isPending)
        return before
      }
      case 'orphan': {
        const before = this.#input.nativeMessage ? this.#unanswered() : NO_PAIRS
        this.#input.addOrphan(step)
        return before
      }
      case 'answer':
        return this.#answer(step)
      default:
        return assertNever(step)
    }
  }

  /** Entries that are written as they were follow: all that was said stands before them. */
  interrupt(): readonly EntryPair[] {
    const before = this.#needsAnswer() ? this.#unanswered() : NO_PAIRS
    return [...before, ...this.#last()]
  }

  end(): RemainingPairs {
    const results = this.#open?.uses.flatMap(({ call }) => call.result ?? []) ?? []
    const hasInput = !this.#input.isEmpty || results.length > 0
    const isWaiting = hasInput && this.#input.isPending && results.every(({ isPending }) => isPending)
    const next = isWaiting ? this.#input.takeMessage(this.#open?.uses ?? []).user : null
    // What waits is not answered here, and its results are told with it.
    const pairs = isWaiting ? this.#last() : this.interrupt()
    return { pairs, next, unusedGroups: [...this.#groups] }
  }

  #last(): readonly EntryPair[] {
    this.#assignGroups()
    this.#isAtStart = false
    return this.#closed()
  }

  /** Calls at the very end may stay without results: the program cancels them itself. */
  #needsAnswer(): boolean {
    if (!this.#input.isEmpty || this.#open?.uses.some(({ call }) => call.result)) return true
    return this.#input.hasContext
  }

  #unanswered(): readonly EntryPair[] {
    const { open, before } = this.#next()
    open.texts.push(NO_ANSWER)
    open.synthetic.push('answer')
    this.#naming.repair(toConversionChange('answer_made', NO_ANSWER))
    return before
  }

  #answer(step: AnswerStep): readonly EntryPair[] {
    const textMessages = textMessagesOf(step)
    // What the server ran is told by nobody else: it has neither call nor result here.
    const calls = callsOfAnswer(step).filter(({ isServed }) => !isServed)
    if (textMessages.length === 0 && calls.length === 0) {
      this.#addGroup(step.group)
      return NO_PAIRS
    }
    const hasNewInput = !this.#input.isEmpty || this.#input.hasContext
    const continued = !hasNewInput && this.#open?.uses.length === 0 ? this.#open : undefined
    const { open, before } = continued ? { open: continued, before: NO_PAIRS } : this.#next()
    open.texts.push(...textMessages.map(messageText).filter((text) => text !== ''))
    for (const call of calls) open.uses.push({ ...toToolUse(call, this.#naming), group: step.group })
    open.message_id ??= (textMessages[0] ?? calls[0]?.message)?.metadata?.message_id ?? null
    this.#addGroup(step.group)
    this.#assignGroups()
    return before
  }

  /** Opens a pair with all that was said since the last one. */
  #next(): { readonly open: OpenPair; readonly before: readonly EntryPair[] } {
    const uses = this.#open?.uses ?? []
    const isSilent = this.#input.isEmpty && uses.length === 0
    const side = this.#input.takeMessage(uses)
    const before = this.#closed()
    const open: OpenPair = {
      user: isSilent ? { ...side.user, content: { Prompt: { prompt: this.#syntheticPrompt() } } } : side.user,
      synthetic: isSilent ? ['prompt'] : [...side.synthetic],
      notCancelled: side.notCancelled,
      texts: [],
      uses: [],
      message_id: null,
      ownGroups: [],
      allGroups: new Set(uses.map(({ group }) => group)),
    }
    this.#open = open
    this.#isAtStart = false
    this.#assignGroups()
    return { open, before }
  }

  #syntheticPrompt(): string {
    const text = this.#isAtStart ? IMPORT_START_PROMPT : CONTINUED_PROMPT
    this.#naming.repair(toConversionChange('prompt_made', text))
    return text
  }

  #closed(): readonly EntryPair[] {
    const open = this.#open
    this.#open = undefined
    if (!open) return NO_PAIRS
    const { user, ownGroups, allGroups } = open
    return [
      {
        entry: { user, assistant: toAssistantMessage(open), request_metadata: null },
        ownGroups,
        allGroups,
        facts: pairFacts(open),
      },
    ]
  }

  #addGroup(group: RecordGroup): void {
    this.#groups.add(group)
  }

  /** What was said belongs to the open pair. */
  #assignGroups(): void {
    const open = this.#open
    if (!open) return
    for (const group of this.#groups) {
      open.allGroups.add(group)
      if (!this.#ownedGroups.has(group)) open.ownGroups.push(group)
      this.#ownedGroups.add(group)
    }
    // A set that is cleared keeps its old table, which holds on to the new one: all that was ever in it would live longer.
    this.#groups = new Set()
  }
}

const NO_PAIRS: readonly EntryPair[] = []

function toAssistantMessage({ texts, uses, message_id }: OpenPair): HistoryEntry['assistant'] {
  const content = toWellFormed(texts.join('\n\n'))
  if (uses.length === 0) return { Response: { message_id, content } }
  return { ToolUse: { message_id, content, tool_uses: uses.map(({ use }) => use) } }
}

function pairFacts({ synthetic, notCancelled }: OpenPair): PairFacts | undefined {
  if (synthetic.length === 0 && !notCancelled) return undefined
  return { ...(synthetic.length > 0 && { made: synthetic }), ...(notCancelled && { not_cancelled: true }) }
}

const messageText = (message: NormalizedMessage): string =>
  [
    ...message.segments.map(({ text, media }) => text ?? attachmentNote({ format: 'image', url: media?.url })),
    ...attachmentsOf(message).map(attachmentNote),
  ].join('\n\n')

/** What asked for it is not known. */
export const compactSummary = (texts: readonly string[]): Summary => [
  toWellFormed(texts.join('\n\n')),
  { ...EMPTY_METADATA, message_meta_tags: ['Compact'] },
]
