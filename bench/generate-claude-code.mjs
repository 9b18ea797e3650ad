/**
 * Makes sessions of Claude Code of any size, with the truth about them: `generate-claude-code.mjs --out <folder> --mb <n> [--seed n]`.
 * Writes a home: `projects/<directory>/<session>.jsonl` with sub-agents, forks, compactions, rewinds and streaming repeats of
 * tokens; and `manifest.json`, which says what a correct reader finds. The same arguments give the same bytes.
 */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    mb: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    'mean-kb': { type: 'string', default: '400' },
  },
})
if (!values.out) {
  console.error('usage: generate-claude-code.mjs --out <folder> --mb <n> [--seed <n>] [--mean-kb <n>]')
  process.exit(2)
}
const target = Number(values.mb) * 1e6
const mean = Number(values['mean-kb']) * 1e3

let state = (Number(values.seed) * 2654435761) >>> 0
function random() {
  state = (state + 0x6d2b79f5) >>> 0
  let t = Math.imul(state ^ (state >>> 15), state | 1)
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296
}
const int = (low, high) => low + Math.floor(random() * (high - low + 1))
const pick = (list) => list[Math.floor(random() * list.length)]
const chance = (share) => random() < share
const hex = (length) => Array.from({ length }, () => int(0, 15).toString(16)).join('')
const uuid = () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`

const WORDS = (
  'the to of and a in is for this that with it on file code test function value error return module import string build ' +
  'check update change remove fix line path data name list call server request response config option parse token stream ' +
  'buffer queue cache index search query table column schema session message event commit branch merge diff review rename ' +
  '会話 検索 修正 確認 設定 追加 変換 実行 tea kettle leaf harbour lantern meadow pebble ripple thicket willow'
).split(' ')
const prose = (characters) => {
  let text = ''
  while (text.length < characters) text += `${pick(WORDS)}${chance(0.1) ? '.\n' : ' '}`
  return text
}
const source = (characters) => {
  let text = ''
  while (text.length < characters)
    text += `${'  '.repeat(int(0, 3))}const ${pick(WORDS)} = await ${pick(WORDS)}("${pick(WORDS)}-${int(1, 999)}", \`${pick(WORDS)}\`);\n`
  return text
}

const manifest = {
  arguments: values,
  sessions: 0,
  subagents: 0,
  forks: 0,
  compactions: 0,
  rewinds: 0,
  lines: 0,
  bytes: 0,
  prompts: 0,
  /** What adding up every record gives. */
  naive_output_tokens: 0,
  usage: { input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, cache_write_1h_tokens: 0, output_tokens: 0 },
}

const MODELS = ['claude-sonnet-4-6', 'claude-opus-4-6', 'claude-haiku-4-5']

class Log {
  constructor(session, directory, options = {}) {
    this.session = session
    this.directory = directory
    this.model = pick(MODELS)
    this.now = options.now ?? Date.UTC(2026, int(0, 6), int(1, 28), int(0, 23))
    this.agent = options.agent
    this.lines = []
    this.bytes = 0
    this.tip = null
    this.cached = 0
  }

  put(record) {
    const line = JSON.stringify(record)
    this.lines.push(line)
    this.bytes += Buffer.byteLength(line) + 1
  }

  /** In the order of keys that Claude Code writes. */
  chain({ toolUseResult, sourceToolAssistantUUID, ...fields }, parent = this.tip) {
    this.now += int(20, 4000)
    const id = uuid()
    this.put({
      parentUuid: parent,
      isSidechain: this.agent !== undefined,
      ...(this.agent && { agentId: this.agent }),
      ...fields,
      uuid: id,
      timestamp: new Date(this.now).toISOString(),
      ...(toolUseResult && { toolUseResult, sourceToolAssistantUUID }),
      userType: 'external',
      entrypoint: 'cli',
      cwd: this.directory,
      sessionId: this.session,
      version: '2.1.165',
      gitBranch: 'main',
    })
    this.tip = id
    return id
  }

  snapshot(messageId) {
    this.put({
      type: 'file-history-snapshot',
      messageId,
      snapshot: { messageId, trackedFileBackups: {}, timestamp: new Date(this.now).toISOString() },
      isSnapshotUpdate: false,
    })
  }

  prompt(text, parent) {
    if (this.agent === undefined) manifest.prompts++
    const id = this.chain({ promptId: uuid(), type: 'user', message: { role: 'user', content: text } }, parent)
    if (this.agent === undefined) this.snapshot(id)
    return id
  }

  /** Several blocks of one response: every record repeats the tokens, and only the last has all of the output. */
  answer(blocks) {
    const input = int(2, 12)
    const written = chance(0.6) ? int(100, 4000) : 0
    const hour = chance(0.5) ? written : 0
    const output = int(20, 1500)
    const id = `msg_${hex(24)}`
    const request = chance(0.9) ? { requestId: `req_${hex(24)}` } : {}
    let last
    blocks.forEach((block, at) => {
      const isLast = at === blocks.length - 1
      const said = isLast ? output : chance(0.5) ? output : int(1, 8)
      manifest.naive_output_tokens += said
      last = this.chain({
        message: {
          model: this.model,
          id,
          type: 'message',
          role: 'assistant',
          content: [block],
          stop_reason: isLast ? (block.type === 'tool_use' ? 'tool_use' : 'end_turn') : null,
          stop_sequence: null,
          usage: {
            input_tokens: input,
            cache_creation_input_tokens: written,
            cache_read_input_tokens: this.cached,
            cache_creation: { ephemeral_5m_input_tokens: written - hour, ephemeral_1h_input_tokens: hour },
            output_tokens: said,
            service_tier: 'standard',
          },
        },
        ...request,
        type: 'assistant',
      })
    })
    const { usage } = manifest
    usage.input_tokens += input + written + this.cached
    usage.cached_input_tokens += this.cached
    usage.cache_write_tokens += written
    usage.cache_write_1h_tokens += hour
    usage.output_tokens += output
    this.cached += written
    return last
  }

  result(call, content, toolUseResult) {
    return this.chain({
      type: 'user',
      message: { role: 'user', content: [{ tool_use_id: call, type: 'tool_result', content, is_error: chance(0.05) }] },
      toolUseResult,
      sourceToolAssistantUUID: this.tip,
    })
  }

  tool() {
    const id = `toolu_${hex(24)}`
    const thought = chance(0.4)
      ? [{ type: 'thinking', thinking: prose(int(100, 900)), signature: hex(int(200, 900)) }]
      : []
    const path = `${this.directory}/src/${pick(WORDS)}.ts`
    const kind = pick(['Bash', 'Bash', 'Read', 'Read', 'Edit', 'Write', 'Grep'])
    const text = source(Math.min(30_000, Math.floor(200 * Math.exp(random() * 5))))
    const input =
      kind === 'Bash'
        ? { command: `npm run ${pick(WORDS)}`, description: prose(30) }
        : kind === 'Edit'
          ? { file_path: path, old_string: source(200), new_string: source(300), replace_all: false }
          : kind === 'Write'
            ? { file_path: path, content: source(2000) }
            : kind === 'Grep'
              ? { pattern: pick(WORDS), path: this.directory }
              : { file_path: path }
    this.answer([...thought, { type: 'tool_use', id, name: kind, input }])
    const twin =
      kind === 'Bash'
        ? { stdout: text, stderr: '', interrupted: false, isImage: false }
        : kind === 'Edit'
          ? {
              filePath: path,
              oldString: input.old_string,
              newString: input.new_string,
              originalFile: text,
              structuredPatch: [],
            }
          : { type: 'text', file: { filePath: path, content: text, numLines: 40, startLine: 1, totalLines: 40 } }
    this.result(id, kind === 'Edit' ? `The file ${path} has been updated.` : text, twin)
  }

  write(file) {
    mkdirSync(dirname(file), { recursive: true })
    const out = openSync(file, 'w')
    writeSync(out, `${this.lines.join('\n')}\n`)
    closeSync(out)
    manifest.lines += this.lines.length
    manifest.bytes += this.bytes
  }
}

/** A sub-agent in its own file. */
function subagent(log, folder) {
  const id = `toolu_${hex(24)}`
  const agent = hex(17)
  const task = prose(200)
  log.answer([
    { type: 'tool_use', id, name: 'Agent', input: { subagent_type: 'explorer', description: prose(20), prompt: task } },
  ])
  const child = new Log(log.session, log.directory, { now: log.now, agent })
  child.prompt(task)
  for (let calls = int(1, 6); calls > 0; calls--) child.tool()
  const words = prose(400)
  child.answer([{ type: 'text', text: words }])
  child.write(join(folder, log.session, 'subagents', `agent-${agent}.jsonl`))
  writeFileSync(
    join(folder, log.session, 'subagents', `agent-${agent}.meta.json`),
    JSON.stringify({ agentType: 'explorer', description: task.slice(0, 20), toolUseId: id }),
  )
  log.result(id, [{ type: 'text', text: words }], { status: 'completed', agentId: agent, usage: { output_tokens: 3 } })
  manifest.subagents++
}

function compact(log) {
  const before = log.tip
  log.chain(
    {
      logicalParentUuid: before,
      type: 'system',
      subtype: 'compact_boundary',
      content: 'Conversation compacted',
      compactMetadata: { trigger: 'auto', preTokens: log.cached, postTokens: 900 },
    },
    null,
  )
  const content = `This session is being continued from a previous conversation. ${prose(1500)}`
  log.chain({
    type: 'user',
    message: { role: 'user', content },
    isVisibleInTranscriptOnly: true,
    isCompactSummary: true,
  })
  log.cached = 0
  manifest.compactions++
}

/** A new file that begins with every record of the old one that has a uuid. */
function fork(log, folder) {
  const id = uuid()
  const copy = new Log(id, log.directory, { now: log.now + 60_000 })
  for (const line of log.lines) if (line.includes('"uuid":')) copy.put(JSON.parse(line.replaceAll(log.session, id)))
  copy.tip = log.tip
  copy.cached = log.cached
  copy.prompt(prose(120))
  copy.tool()
  copy.answer([{ type: 'text', text: prose(300) }])
  copy.write(join(folder, `${id}.jsonl`))
  manifest.sessions++
  manifest.forks++
}

const projects = Array.from(
  { length: 12 },
  () => `/home/dev/src/${pick(WORDS).replaceAll(/[^a-z]/g, 'x')}-${int(1, 99)}`,
)
while (manifest.bytes < target) {
  const directory = pick(projects)
  const folder = join(values.out, 'projects', directory.replaceAll(/[^A-Za-z0-9-]/g, '-'))
  const log = new Log(uuid(), directory)
  log.put({ type: 'permission-mode', permissionMode: 'default', sessionId: log.session })
  const size = mean * (0.3 + 1.4 * random())
  while (log.bytes < size) {
    const before = log.tip
    log.prompt(prose(int(30, 600)))
    for (let calls = int(1, 8); calls > 0; calls--) log.tool()
    if (chance(0.1)) subagent(log, folder)
    log.answer([{ type: 'text', text: prose(int(80, 1500)) }])
    log.chain({ type: 'system', subtype: 'turn_duration', durationMs: int(1000, 90_000), messageCount: 4 })
    log.put({ type: 'ai-title', aiTitle: prose(30).trim(), sessionId: log.session })
    if (before !== null && chance(0.04)) {
      log.prompt(prose(100), before)
      log.answer([{ type: 'text', text: prose(300) }])
      manifest.rewinds++
    }
    if (chance(0.03)) compact(log)
    log.put({ type: 'last-prompt', lastPrompt: prose(40), leafUuid: log.tip, sessionId: log.session })
  }
  manifest.sessions++
  log.write(join(folder, `${log.session}.jsonl`))
  if (chance(0.1)) fork(log, folder)
}
writeFileSync(join(values.out, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`)
