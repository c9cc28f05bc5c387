/** Writes to the stage, in any thread. */
import { StageWriter } from '../../publish/stage-writer.js';
import type { StageSpec } from '../../publish/stage-writer.js';
import { ROUTES } from '../../routes/index.js';

/** Stages what `render` puts. @param part names the patches of the routes' indexes */
export function staged(stage: StageSpec, part: string, render: (writer: StageWriter) => void): void {
  const writer = new StageWriter(stage, part, ROUTES);
  try {
    render(writer);
    writer.finish();
  } finally {
    writer.close();
  }
}
