/** Imports logs that the reader drops or chooses. */
import type { ImportItem, ImportReply } from '../../model/api/setup.ts'
import { postFile, type RequestProblem } from '../api/client.ts'

export class LogImport {
  /** The file that is being sent. */
  running = $state<string>()
  done = $state.raw<readonly ImportItem[]>([])
  problem = $state.raw<{ readonly name: string; readonly problem: RequestProblem }>()

  /** One file after another; stops at the first error. */
  async add(files: Iterable<File>): Promise<void> {
    this.done = []
    this.problem = undefined
    for (const file of files) {
      this.running = file.name
      const answer = await postFile<ImportReply>('/imports', { name: file.name }, file)
      if (answer.kind === 'reply') this.done = [...this.done, answer.reply.data]
      if (answer.kind === 'problem') {
        this.problem = { name: file.name, problem: answer.problem }
        break
      }
    }
    this.running = undefined
  }

  clear(): void {
    this.done = []
    this.problem = undefined
  }
}
