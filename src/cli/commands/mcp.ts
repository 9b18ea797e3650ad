/** `fumi mcp`: serves the archive to agents, and adds it to their settings. */
import type { Command } from 'commander'
import { App } from '../../app.ts'
import { thisMachine } from '../../lib/files/data-directory.ts'
import { AppError } from '../../model/error.ts'
import { configFlags } from '../config-flags.ts'
import { defineCommand } from '../define-command.ts'
import { say } from '../language.ts'

interface Options {
  readonly for?: string
  readonly project?: boolean
  readonly team?: boolean
  readonly yes?: boolean
}

export function mcpCommand(program: Command): void {
  defineCommand(
    program,
    'mcp',
    'let agents recall earlier conversations, over MCP',
    'エージェントが過去の会話を参照できるようにする（MCP）',
  )
    .argument(
      '[action]',
      'install or uninstall; without it, serve over standard input and output',
      'install（登録）か uninstall（解除）。省略すると標準入出力で応答',
    )
    .option(
      '--for <agent>',
      'agent to add it to: claude-code, codex, kiro, amazon-q, gemini, qwen or opencode',
      '登録先: claude-code、codex、kiro、amazon-q、gemini、qwen、opencode',
    )
    .option(
      '--project',
      'for this directory only, in a file that others may share',
      'このディレクトリーだけに、共有されるファイルで登録',
    )
    .option(
      '--team',
      'also recall what your team shares (see fumi team)',
      'チームが共有する会話も参照する（fumi team を参照）',
    )
    .option('--yes', 'do not ask', '確認しない')
    .examples(
      'fumi mcp install --for claude-code',
      'fumi mcp install --for codex --project',
      'fumi mcp install --for codex --team',
      'fumi mcp uninstall --for codex',
    )
    .note(
      'It only reads: no tool writes, deletes or runs anything. See docs/memory.md.',
      '読み取り専用です。書き込み・削除・実行をするツールはありません。docs/memory.md を参照してください。',
    )
    .run(run)
}

async function run(action: string | undefined, options: Options, command: Command): Promise<void> {
  if (action === undefined) return serve(command.parent?.version() ?? '', options.team === true)
  if (action !== 'install' && action !== 'uninstall')
    throw new AppError(
      'bad_usage',
      `Unknown action "${action}". Use install or uninstall, or leave it out.`,
      `「${action}」という操作はありません。install か uninstall を指定するか、省略してください。`,
    )
  const { changeClient } = await import('../mcp/change-client.ts')
  await changeClient(action, {
    client: options.for,
    isProject: options.project === true,
    isTeam: options.team === true,
    isConfirmed: options.yes === true,
  })
}

async function serve(version: string, isTeam: boolean): Promise<void> {
  const [{ MemoryArchive }, { serveStdio }, { sessionIdsOfEnvironment }] = await Promise.all([
    import('../../memory/archive.ts'),
    import('../../memory/protocol/stdio.ts'),
    import('../../memory/caller.ts'),
  ])
  if (process.stdin.isTTY)
    process.stderr.write(
      say(
        'fumi: Waiting for an MCP client on standard input. To add it to an agent: fumi mcp install --for <agent>\n',
        'fumi: 標準入力で MCP クライアントを待っています。エージェントに登録するには: fumi mcp install --for <エージェント>\n',
      ),
    )
  // Many of these run at once: each reads with one thread.
  const app = new App(thisMachine(), { flags: configFlags(), threads: 1, isSmall: true })
  const furtherTools = isTeam ? await teamToolsOf(app) : undefined
  const archive = new MemoryArchive(app)
  const sessionIds = sessionIdsOfEnvironment(process.env)
  await serveStdio(
    { archive, version, cwd: process.cwd(), sessionIds, ...(furtherTools && { furtherTools }) },
    process.stdin,
    process.stdout,
  )
  await archive.close()
  app.close()
  process.exit()
}

/** A server that does not answer is an error of one call; the other tools go on. */
async function teamToolsOf(app: App) {
  const [{ teamTools }, { connectTeam }] = await Promise.all([
    import('../../team/client/recall-tools.ts'),
    import('../team/team-options.ts'),
  ])
  return teamTools(connectTeam(app, {}, 2))
}
