/** What a conversation knows that can be completed. */
import { readdirSync } from 'node:fs'
import { findAgents, referenceOf } from '../../chat/agent-file/find.ts'
import { pathOf } from '../../chat/attach/attach.ts'
import { listCheckpoints } from '../../chat/checkpoint/list.ts'
import { allPrompts, usageOf } from '../../chat/prompts/spoken.ts'
import { toolLabel } from '../../chat/tools/allow/patterns.ts'
import type { Talk } from '../../chat.ts'
import { type Known, offersFor } from './input/complete.ts'
import type { Completer } from './input/offer.ts'

export function completerFor(talk: Talk): Completer {
  const known = knownTo(talk)
  return (line) => offersFor(line, known)
}

const knownTo = (talk: Talk): Known => ({
  agents: () => {
    const { agents } = findAgents({ ...talk.rig.place, data: talk.surroundings.data })
    return agents.map((found) => referenceOf(found, agents, talk.rig.place.cwd))
  },
  rules: () => talk.state.context_manager?.paths ?? [],
  tags: () => listCheckpoints(talk.state).map(({ tag }) => tag),
  tools: () => talk.rig.box.all.map(toolLabel),
  prompts: () =>
    allPrompts(talk).map((one) => ({
      name: one.called,
      note: one.kind === 'kept' ? one.prompt.place : `${usageOf(one.prompt, one.called)} · ${one.prompt.server}`,
    })),
  files: (folder) => filesIn(folder === '' ? talk.rig.place.cwd : pathOf(folder, talk.rig.place)),
})

function filesIn(folder: string): ReturnType<Known['files']> {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }))
      .sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch {
    return []
  }
}
