/** What is done around a conversation: checkpoints of its files. */
import type { HookResult } from '../../conversation/request/context.ts'
import { Checkpoints } from '../checkpoint/checkpoints.ts'
import type { Help } from '../help.ts'
import type { ChatTool, Place } from '../tools/tool.ts'
import type { Desk } from '../turn/desk.ts'
import type { TalkEvent } from '../turn/event.ts'
import type { ToolOutcome } from '../turn/gear.ts'

/** Checkpoints begin with the first tool that may change something: who only talks does not wait for git. */
export class Helpers implements Help {
  readonly checkpoints: Checkpoints
  #started: Promise<void> | undefined
  #prompt = ''
  #notices: TalkEvent[] = []

  constructor(desk: Desk, directory: string, { cwd, home }: Place) {
    const held = {
      state: () => desk.state,
      change: (next: Desk['state']) => desk.become(next),
      restored: (tag: string, hard: boolean) => desk.tell({ event: 'restored', tag, hard }),
    }
    this.checkpoints = new Checkpoints(held, { directory, cwd, home, now: () => desk.local() })
  }

  async spawnHooks(): Promise<readonly HookResult[]> {
    return []
  }

  async promptHooks(): Promise<readonly HookResult[]> {
    return []
  }

  beforeTurn(prompt: string): void {
    this.#prompt = prompt
    if (this.#started) this.checkpoints.noteUserMessage(prompt)
  }

  async beforeTool(_: ChatTool, __: unknown, level: ToolOutcome['level']): Promise<string | undefined> {
    if (level === 'read-only') return undefined
    this.#started ??= this.#start()
    await this.#started
    return undefined
  }

  async #start(): Promise<void> {
    const started = await this.checkpoints.start(false)
    if (started.kind === 'off') this.#notices.push({ kind: 'notice', code: 'checkpoint', text: started.reason })
    else this.checkpoints.noteUserMessage(this.#prompt)
  }

  async *afterTool({ tool, ran, summary, level }: ToolOutcome): AsyncGenerator<TalkEvent> {
    yield* this.#notices.splice(0)
    if (ran.status !== 'Success' || level === 'read-only') return
    const made = await this.checkpoints.afterTool(tool.name, summary === '' ? tool.name : summary)
    if (!made.ok) yield { kind: 'notice', code: 'checkpoint', text: `No checkpoint was made: ${made.reason}` }
    else if (made.value !== undefined) yield { kind: 'checkpoint', tag: made.value }
  }

  async *afterTurn(): AsyncGenerator<TalkEvent> {
    if (!this.#started) return
    const made = await this.checkpoints.afterTurn()
    if (!made.ok) yield { kind: 'notice', code: 'checkpoint', text: `No checkpoint was made: ${made.reason}` }
    else if (made.value !== undefined) yield { kind: 'checkpoint', tag: made.value }
  }

  async *fit(): AsyncGenerator<TalkEvent> {}
}
