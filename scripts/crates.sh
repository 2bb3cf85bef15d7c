#!/usr/bin/env bash
# Packs croq-macros, croq-sys and croq-build as for a registry, unpacks them outside of this repository, and builds and
# runs the quick start of croq-build's README.md against them. Prints the processor time of that build, from nothing.
# Its crates come from the registry, with the versions of Cargo.lock.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
crates="croq-macros croq-sys croq-build"
# The compilers of a user: no lints, no CUDA, libclang from .croq unless there is another.
unset RUSTC_WORKSPACE_WRAPPER CLIPPY_ARGS CROQ_WARNINGS CARGO_TARGET_DIR
export CROQ_CUDA=off CROQ_DEVICE=sim LIBCLANG_PATH="${LIBCLANG_PATH:-$root/.croq/libclang}"

fail() { echo "$*" >&2; exit 1; }

for folder in croq-build croq-sys croq-sys/macros; do
  for text in LICENSE-MIT LICENSE-APACHE; do
    cmp "$text" "$folder/$text" || fail "$folder/$text is not $text of the repository"
  done
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
packages=$(printf -- '-p %s ' $crates)
# Verified below, by a build outside of the workspace. Changes that are not committed are packed too.
# shellcheck disable=SC2086 — one word per option
cargo package $packages --no-verify --allow-dirty --exclude-lockfile --quiet --target-dir "$work/target" 2>"$work/log" ||
  { cat "$work/log" >&2; exit 1; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
mkdir "$work/unpacked"
for crate in $crates; do
  packed="$work/target/package/$crate-$version.crate"
  tar -xzf "$packed" -C "$work/unpacked"
  folder="$work/unpacked/$crate-$version"
  for file in README.md LICENSE-MIT LICENSE-APACHE src/lib.rs; do
    [ -f "$folder/$file" ] || fail "$crate: $file is not packed"
  done
  tests=$(cd "$folder" && find . -path '*tests*' -o -name golden)
  [ -z "$tests" ] || fail "$crate: tests are packed: $tests"
  for key in description license keywords categories readme rust-version; do
    grep -q "^$key = " "$folder/Cargo.toml" || fail "$crate: no $key"
  done
  echo "$crate $version: $(wc -c <"$packed") bytes packed, $(find "$folder" -type f | wc -l) files"
done

# The files of the quick start, each after its name between asterisks.
hello="$work/hello"
mkdir -p "$hello"
python3 - "$work/unpacked/croq-build-$version/README.md" "$hello" <<'PY'
import pathlib, re, sys
text, folder = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
files = re.findall(r"\*\*`([^`]+)`\*\*\n\n```\w*[^\n]*\n(.*?)```", text, re.S)
assert [name for name, _ in files] == ["Cargo.toml", "build.rs", "kernels/scale.co", "src/main.rs"], files
for name, content in files:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
PY
{
  printf '[package]\nname = "hello-croq"\nversion = "0.1.0"\nedition = "2024"\n\n'
  cat "$hello/Cargo.toml"
  printf '\n[workspace]\n\n[patch.crates-io]\n'
  for crate in $crates; do
    printf '%s = { path = "%s" }\n' "$crate" "$work/unpacked/$crate-$version"
  done
} >"$hello/Cargo.toml.new"
mv "$hello/Cargo.toml.new" "$hello/Cargo.toml"
cp Cargo.lock "$hello/"
cd "$hello"
cargo fetch --quiet
TIMEFORMAT='quick start, from nothing to its first run: %U s user, %S s system, %R s on the clock'
time cargo run --quiet >"$work/out"
cat "$work/out"
[ "$(tail -n 1 "$work/out")" = "[0.0, 1.5, 3.0, 4.5, 6.0]" ] || fail "the quick start printed something else"
TIMEFORMAT='first cargo check after it: %U s user, %S s system, %R s on the clock'
time cargo check --quiet
echo "target: $(du -sm target | cut -f 1) MB"

# A kernel that stops is an `Err` in programs that abort on panics, too.
printf '\n[profile.release]\npanic = "abort"\n' >>Cargo.toml
cat >kernels/pick.co <<'CO'
__co__ f32 [M] pick(f32 [N] x, s32 [M] at) {
  f32 [M] y;
  parallel p by M { y.at(p) = x.at(at.at(p)); }
  return y;
}
CO
cat >src/main.rs <<'RS'
croq_sys::include_kernels!();
fn main() {
    let x = croq_sys::Tensor::from_fn((5,), |[i]| i as f32);
    let at = croq_sys::Tensor::from_fn((3,), |[i]| 4 * i as i32);
    println!("{}", kernels::pick(&x, &at).unwrap_err());
}
RS
cargo run --release --quiet >"$work/out" || fail "a kernel that stops aborted its program"
grep -q 'pick.co:3' "$work/out" || fail "a kernel that stops: $(cat "$work/out")"
echo 'a kernel that stops, with panic = "abort": Err'
