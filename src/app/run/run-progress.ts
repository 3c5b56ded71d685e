/** A progress bar on a terminal for long runs. */
import type { RunProgress } from '../../interpreter/core/run-request.ts';

interface ProgressBar {
  readonly update: (progress: RunProgress) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

/** Milliseconds before the bar appears, and between its updates. */
const patience = 700;
const interval = 120;
const width = 24;

/**
 * A progress bar that appears only if a run takes long.
 * @param write to the terminal
 * @param now the time in milliseconds
 */
export function progressBar(write: (text: string) => void, now: () => number): ProgressBar {
  const started = now();
  let drawn = 0;
  return {
    update(progress) {
      const time = now();
      if (time - started < patience || time - drawn < interval) return;
      drawn = time;
      write(`\r${progressText(progress, time - started)}\u001b[K`);
    },
    end() {
      if (drawn !== 0) write('\r\u001b[K');
    },
  };
}

/**
 * One line: the finished share of the grid, the rate, and the time left if the finished blocks allow an estimate.
 * @param elapsed milliseconds since the start
 */
export function progressText({ steps, endedBlocks, blocks }: RunProgress, elapsed: number): string {
  const part = blocks === 0 ? 1 : endedBlocks / blocks;
  const full = Math.floor(part * width);
  const rate = elapsed === 0 ? 0 : (steps / elapsed) * 1000;
  const left = part > 0 ? `, ${duration((elapsed * (1 - part)) / part)} left` : '';
  const bar = '#'.repeat(full) + '.'.repeat(width - full);
  return `[${bar}] ${Math.floor(100 * part)} % of ${blocks} blocks, ${rateText(rate)} instructions a second${left}`;
}

function rateText(rate: number): string {
  if (rate >= 1e9) return `${(rate / 1e9).toFixed(1)} G`;
  return rate >= 1e6 ? `${(rate / 1e6).toFixed(0)} M` : `${Math.round(rate / 1e3)} k`;
}

function duration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
