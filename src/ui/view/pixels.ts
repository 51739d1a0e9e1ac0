// Rectangles painted into memory, which goes to a canvas in one piece: of a timeline there are 100,000 of a few pixels each. A canvas without a GPU took 15 to 20 ms to
// paint those of 40 lanes at 1920 × 1080, because it smooths their edges and keeps each of them until the frame is shown; here they take 3 ms, and have sharp edges.
//
//   pixels.begin(canvas.width, canvas.height, devicePixelRatio);
//   pixels.rect(0, 0, 100, 20, "#ff000080");      CSS pixels; #rrggbb or #rrggbbaa
//   pixels.put(context);                           all of the canvas is what was painted since begin()
//
// An edge goes to the next whole pixel: neighbours leave no gap between them. Nothing is narrower than a pixel; what rounds to no height is not seen.

const BYTE = 255;
const WIDE = 24; // pixels from which a call of fill() is worth it

interface Paint {
  packed: number; // as a little-endian word: alpha, blue, green, red
  alpha: number;
}

export class Pixels {
  private image = new ImageData(1, 1);
  private words = new Uint32Array(this.image.data.buffer);
  private scale = 1;
  private readonly paints = new Map<string, Paint>();

  begin(width: number, height: number, scale: number): void {
    if (this.image.width !== width || this.image.height !== height) {
      this.image = new ImageData(width, height);
      this.words = new Uint32Array(this.image.data.buffer);
    }
    this.scale = scale;
  }

  rect(x: number, y: number, width: number, height: number, fill: string): void {
    const { scale, words, image } = this,
      { packed, alpha } = this.paint(fill);
    const left = Math.max(Math.round(x * scale), 0),
      right = Math.min(Math.max(Math.round((x + width) * scale), left + 1), image.width);
    const top = Math.max(Math.round(y * scale), 0),
      bottom = Math.min(Math.max(Math.round((y + height) * scale), height >= 1 ? top + 1 : top), image.height);
    for (let row = top; row < bottom; ++row) {
      const begin = row * image.width + left,
        end = row * image.width + right;
      if (alpha < BYTE) {
        mix(words, begin, end, packed, alpha);
      } else if (right - left >= WIDE) {
        words.fill(packed, begin, end);
      } else {
        for (let at = begin; at < end; ++at) {
          words[at] = packed;
        }
      }
    }
  }

  put(context: CanvasRenderingContext2D): void {
    context.putImageData(this.image, 0, 0);
  }

  private paint(fill: string): Paint {
    let paint = this.paints.get(fill);
    if (paint === undefined) {
      const part = (at: number): number => Number.parseInt(fill.slice(at, at + 2), 16);
      paint = {
        packed: ((BYTE << 24) | (part(5) << 16) | (part(3) << 8) | part(1)) >>> 0,
        alpha: fill.length > 7 ? part(7) : BYTE,
      };
      this.paints.set(fill, paint);
    }
    return paint;
  }
}

function mix(words: Uint32Array, begin: number, end: number, above: number, alpha: number): void {
  for (let at = begin; at < end; ++at) {
    const below = words[at] ?? 0;
    const part = (shift: number): number =>
      Math.round((((above >>> shift) & BYTE) * alpha + ((below >>> shift) & BYTE) * (BYTE - alpha)) / BYTE) << shift;
    words[at] = ((BYTE << 24) | part(16) | part(8) | part(0)) >>> 0;
  }
}
