/** Pairs prompts and results with answers: the strictly alternating entries of a history. */

import { toWellFormed } from '../../lib/text.ts'
import { assertNever } from '../../model/error.ts'
import type { NormalizedMessage } from '../../model/normalized.ts'
import type { ElementFacts } from '../../model/replay/extension.ts'
import {
  type AnswerStep,
  callsOfAnswer,
  type RecordGroup,
  type ReplayStep,
  textMessagesOf,
  textsOfMessage,
  textsWithNotes,
  toConversionChange,
} from '../../model/replay/step.ts'
import type { UserMessage } from '../message.ts'
import { EMPTY_METADATA, type HistoryEntry, type Summary } from '../record.ts'
import { PendingInput, toToolUse, type UseNaming, type UserInput, type WrittenToolUse } from './pending-input.ts'

/** An entry and its sources. */
export interface EntryPair {
  readonly entry: HistoryEntry
  /** Groups whose records are attached to this entry, because it is the first to represent them. */
  readonly ownGroups: readonly RecordGroup[]
  /** All groups that the entry represents, at least partly. */
  readonly allGroups: ReadonlySet<RecordGroup>
  readonly facts: PairFacts | undefined
}

/** Values that the format cannot represent; stored in the entry's extension. */
export interface PairFacts extends ElementFacts {
  /** Parts inserted because the program requires them: `prompt`, `answer`, or ids of results. */
  readonly made?: readonly string[]
  readonly not_cancelled?: true
}

export interface RemainingPairs {
  readonly pairs: readonly EntryPair[]
  /** The message that was not sent yet. */
  readonly next: UserMessage | null
  /** Groups that no pair represents. */
  readonly unusedGroups: readonly RecordGroup[]
}

/** Inserted texts: the program requires a prompt first, and an answer to every message. */
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
  /** The last pair, which further output of the model can extend. */
  #open: OpenPair | undefined
  /** Groups of the messages since the last answer. */
  #groups = new Set<RecordGroup>()
  readonly #ownedGroups = new WeakSet<RecordGroup>()
  #isAtStart = true
  /** Texts of summaries at the beginning. */
  readonly summaries: string[] = []

  constructor(naming: UseNaming, cwd: string | undefined) {
    this.#naming = naming
    this.#input = new PendingInput(naming, cwd)
  }

  /** Number of pairs not emitted yet. */
  get open(): number {
    return this.#open ? 1 : 0
  }

  /** Sets the program's own unsent message. The next output of the model answers it. */
  setPending(user: UserMessage): void {
    this.#input.setNativeMessage(user)
  }

  /** Returns the pairs that can no longer be extended. */
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

  /** Returns all pairs so far, because unchanged entries of the source follow. */
  interrupt(): readonly EntryPair[] {
    const before = this.#needsAnswer() ? this.#unanswered() : NO_PAIRS
    return [...before, ...this.#last()]
  }

  end(): RemainingPairs {
    const results = this.#open?.uses.flatMap(({ call }) => call.result ?? []) ?? []
    const hasInput = !this.#input.isEmpty || results.length > 0
    const isWaiting = hasInput && this.#input.isPending && results.every(({ isPending }) => isPending)
    const next = isWaiting ? this.#input.takeMessage(this.#open?.uses ?? []).user : null
    // An unsent message is not answered here, and contains its own results.
    const pairs = isWaiting ? this.#last() : this.interrupt()
    return { pairs, next, unusedGroups: [...this.#groups] }
  }

  #last(): readonly EntryPair[] {
    this.#assignGroups()
    this.#isAtStart = false
    return this.#closed()
  }

  /** Calls at the very end need no results: the program cancels them itself. */
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
    // Calls executed by the server are left out: the format has neither call nor result for them.
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

  /** Opens a pair for all messages since the last one. */
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

  /** Assigns the collected groups to the open pair. */
  #assignGroups(): void {
    const open = this.#open
    if (!open) return
    for (const group of this.#groups) {
      open.allGroups.add(group)
      if (!this.#ownedGroups.has(group)) open.ownGroups.push(group)
      this.#ownedGroups.add(group)
    }
    // A new set: clearing would keep the old table, which references the new one and would keep its contents alive.
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

const messageText = (message: NormalizedMessage): string => textsWithNotes(message).join('\n\n')

/** The request metadata of the summary is unknown. */
export const compactSummary = (texts: readonly string[]): Summary => [
  toWellFormed(texts.join('\n\n')),
  { ...EMPTY_METADATA, message_meta_tags: ['Compact'] },
]
