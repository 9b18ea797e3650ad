/** What stands around the messages in a file. */
import type { Fields } from '../../../lib/unknown-values.ts'
import type { AgentId } from '../../../model/ids.ts'
import type { WrittenExtension } from '../../../model/replay/extension.ts'
import type { Session } from '../../../model/session.ts'

export interface FileFrame {
  /** Text for records that stand before all messages. Any number of times, before `open`. */
  records(src: AgentId, records: readonly unknown[]): string
  /** Up to the first message. */
  open(header: Fields | undefined): string
  readonly between: string
  /** @param rest records that no message could take */
  end(rest: WrittenExtension | undefined): string
}

/** What fine-tuning takes beside the messages. */
const FINE_TUNING_KEYS: ReadonlySet<string> = new Set(['tools', 'functions', 'parallel_tool_calls'])

const memberLines = (header: Fields, only?: ReadonlySet<string>): readonly string[] =>
  Object.entries(header)
    .filter(
      ([key, value]) => key !== 'x_conv' && key !== 'x_conv_after' && value !== undefined && only?.has(key) !== false,
    )
    .map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)},`)

/** One line, as fine-tuning wants it. */
export const EXAMPLE_FRAME: FileFrame = {
  records: () => '',
  open: (header) => `{${memberLines(header ?? {}, FINE_TUNING_KEYS).join('')}"messages":[`,
  between: ',',
  end: () => ']}\n',
}

/**
 * An object over several lines, so that it is not taken for an example. The header comes first, record by record: there may
 * be more of them than fit into memory. They share a line: on lines of their own they would look like their agent's log.
 */
export class DocumentFrame implements FileFrame {
  readonly #session: Session
  #isStarted = false
  #hasRecord = false
  readonly between = ',\n'

  constructor(session: Session) {
    this.#session = session
  }

  records(src: AgentId, records: readonly unknown[]): string {
    const { path: _, ...session } = this.#session
    const opening = this.#isStarted
      ? ''
      : `{\n"x_conv": {"src":${JSON.stringify(src)},"session":${JSON.stringify(session)},"records":[`
    const comma = this.#hasRecord && records.length > 0 ? ',' : ''
    this.#isStarted = true
    this.#hasRecord ||= records.length > 0
    return `${opening}${comma}${records.map((record) => JSON.stringify(record)).join(',')}`
  }

  /** @param header what the file said beside its messages, where the conversation was in such a file before */
  open(header: Fields | undefined): string {
    const lines = memberLines(header ?? sessionFields(this.#session))
    return `${this.#isStarted ? ']},\n' : '{\n'}${lines.join('\n')}\n"messages": [\n`
  }

  end(rest: WrittenExtension | undefined): string {
    return rest ? `\n],\n"x_conv_after": ${JSON.stringify(rest)}\n}\n` : '\n]\n}\n'
  }
}

function sessionFields({ native_id, title, models, started_at }: Session): Fields {
  return {
    id: native_id,
    ...(title !== undefined && { title }),
    ...(models[0] !== undefined && { model: models[0] }),
    created_at: started_at,
  }
}
