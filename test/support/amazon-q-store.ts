/** Stores of Amazon Q and Kiro, and small conversations for them. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { openSqlite } from '../../src/lib/sqlite/driver.ts'

export interface Exchange {
  readonly prompt: string
  readonly answer: string
  /** Names of tools used before the answer. */
  readonly tools?: readonly string[]
}

/** A prompt and its answer, with an entry per tool in between. */
export function entriesOf({ prompt, answer, tools = [] }: Exchange): readonly object[] {
  const inputs = [{ Prompt: { prompt } }, ...tools.map((name) => resultOf(`${prompt} ${name}`))]
  const answers = [
    ...tools.map((name) => useOf(`${prompt} ${name}`, name)),
    { Response: { message_id: `${prompt}!`, content: answer } },
  ]
  return inputs.map((content, at) => ({
    user: {
      additional_context: '',
      env_context: {
        env_state: { operating_system: 'linux', current_working_directory: '/code', environment_variables: [] },
      },
      content,
      timestamp: at === 0 ? '2026-03-04T05:06:07.123456789+09:00' : null,
      images: null,
    },
    assistant: answers[at],
    request_metadata: null,
  }))
}

const resultOf = (id: string): object => ({
  ToolUseResults: { tool_use_results: [{ tool_use_id: id, content: [{ Text: `done ${id}` }], status: 'Success' }] },
})

const useOf = (id: string, name: string): object => ({
  ToolUse: {
    message_id: `${id}?`,
    content: '',
    tool_uses: [{ id, name, orig_name: name, args: { path: id }, orig_args: { path: id } }],
  },
})

export function stateOf(id: string, text: readonly Exchange[], more: object = {}): string {
  const history = text.flatMap(entriesOf)
  return JSON.stringify({
    conversation_id: id,
    next_message: null,
    history,
    valid_history_range: [0, history.length],
    transcript: text.flatMap(({ prompt, answer }) => [`> ${prompt}`, answer]),
    tools: {},
    context_manager: null,
    context_message_length: null,
    latest_summary: null,
    file_line_tracker: {},
    checkpoint_manager: null,
    mcp_enabled: true,
    ...more,
  })
}

export interface Store {
  readonly path: string
  /** Stores a row, like the program does after every answer. */
  put(directory: string, state: string): void
  remove(directory: string): void
  value(directory: string): string | undefined
  /** Runs `work` while holding the lock that every writer needs. */
  locked<T>(work: () => T): T
  close(): void
}

export function makeStore(path: string, journal: 'delete' | 'wal' = 'delete'): Store {
  mkdirSync(dirname(path), { recursive: true })
  const database = openSqlite(path)
  database.pragma(`journal_mode=${journal}`)
  database.exec('CREATE TABLE IF NOT EXISTS conversations (key TEXT PRIMARY KEY, value TEXT)')
  const insert = database.prepare('INSERT OR REPLACE INTO conversations (key, value) VALUES (?, ?)')
  return {
    path,
    put: (directory, state) => void insert.run(directory, state),
    remove: (directory) => void database.prepare('DELETE FROM conversations WHERE key = ?').run(directory),
    value: (directory) =>
      database.prepare('SELECT value FROM conversations WHERE key = ?').pluck().get(directory) as string | undefined,
    locked(work) {
      database.exec('BEGIN IMMEDIATE')
      try {
        return work()
      } finally {
        database.exec('ROLLBACK')
      }
    },
    close: () => database.close(),
  }
}
