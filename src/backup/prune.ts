/** Makes room in the backup: plans what would be dropped, so that the user can decide. */
import { fileProbeAt } from './file-backups.ts'
import type { BackedUpFile } from './file-table.ts'

export interface PruneStep {
  readonly file: BackedUpFile
  /** Compressed bytes of its pieces. Shared pieces are counted for each file. */
  readonly stored_bytes: number
  /** `on_disk`: the original is unchanged and the settings no longer ask for a backup. `only_here`: it would be lost. */
  readonly loss: 'on_disk' | 'only_here'
}

export interface PruneInput {
  readonly files: readonly (BackedUpFile & { readonly stored_bytes: number })[]
  /** Bytes to free. 0: only what is not wanted any more. */
  readonly excess: number
  isWanted(file: BackedUpFile): boolean
}

/** Backups that are no longer wanted and whose file still exists first, then the oldest of files that are gone. */
export function planPrune({ files, excess, isWanted }: PruneInput): readonly PruneStep[] {
  const steps: PruneStep[] = []
  let freed = 0
  const add = (file: PruneInput['files'][number], loss: PruneStep['loss']): void => {
    const { stored_bytes, ...rest } = file
    steps.push({ file: rest, stored_bytes, loss })
    freed += stored_bytes
  }
  const gone: PruneInput['files'][number][] = []
  for (const file of files)
    if (fileProbeAt(file.path) !== file.probe) gone.push(file)
    else if (!isWanted(file)) add(file, 'on_disk')
  for (const file of gone.sort((a, b) => a.modified - b.modified)) if (freed < excess) add(file, 'only_here')
  return steps
}
