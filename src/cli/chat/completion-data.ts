/** What a conversation knows that can be completed. */
import { readdirSync } from 'node:fs'
import { agentReference, findAgents } from '../../chat/agent-file/find-agents.ts'
import { resolveTypedPath } from '../../chat/attach/attachments.ts'
import { listCheckpoints } from '../../chat/checkpoint/checkpoint-rows.ts'
import type { ChatSession } from '../../chat/open/open-chat.ts'
import { listPrompts, promptUsage } from '../../chat/prompts/resolve-prompt.ts'
import { toolLabel } from '../../chat/tools/permission/tool-patterns.ts'
import type { Completer } from './input/completion-item.ts'
import { type CompletionData, findCompletions } from './input/completions.ts'

export function createCompleter(chat: ChatSession): Completer {
  const data = completionDataOf(chat)
  return (line) => findCompletions(line, data)
}

const completionDataOf = (chat: ChatSession): CompletionData => ({
  agents: () => {
    const { agents } = findAgents({ ...chat.setup.workspace, data: chat.commandContext.data })
    return agents.map((found) => agentReference(found, agents, chat.setup.workspace.cwd))
  },
  rules: () => chat.state.context_manager?.paths ?? [],
  tags: () => listCheckpoints(chat.state).map(({ tag }) => tag),
  tools: () => chat.setup.toolSet.all.map(toolLabel),
  prompts: () =>
    listPrompts(chat).map((one) => ({
      name: one.called,
      note: one.kind === 'kept' ? one.prompt.place : `${promptUsage(one.prompt, one.called)} · ${one.prompt.server}`,
    })),
  files: (folder) =>
    listFolder(folder === '' ? chat.setup.workspace.cwd : resolveTypedPath(folder, chat.setup.workspace)),
})

function listFolder(folder: string): ReturnType<CompletionData['files']> {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
