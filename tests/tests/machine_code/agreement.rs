//! Comparisons of a condition or a bound between threads: a reduction at their barrier, or a vote,
//! and no call.

use croq_build::Checks;

use croq_compare::sass::{kernels_of, kernels_with};

const AGREEMENT: &str = "
__co__ void in_a_block(global s32 [128] y, global s32 [1] n) {
  parallel p by 1 : block {
    shared s32 [128] t;
    parallel i by 128 : thread {
      t.at(i) = y.at(i);
      if (i == 0) n.at(0) = 3;
      if (n.at(0) > 1) {
        sync.shared;
        y.at(i) = t.at(127 - i);
      }
    }
  }
}
__co__ void in_a_region(s32 [96] x, global s32 [128] y, global s32 [1] n) {
  parallel p by 1 : block
    parallel i by 128 : thread {
      if (i == 0) n.at(0) = 3;
      inthreads.async (i < 96) {
        if (n.at(0) > 1) {
          t = dma.copy x => shared;
          y.at(i) = t.data.at(95 - i);
        }
      }
    }
}
__co__ void bounds_in_a_region(s32 [96] x, global s32 [128] y, global s32 [1] n) {
  parallel p by 1 : block
    parallel i by 128 : thread {
      if (i == 0) n.at(0) = 3;
      inthreads.async (i < 96) {
        foreach k in [n.at(0)] {
          t = dma.copy x => shared;
          y.at(i) = t.data.at((95 - i + k) % 96);
        }
      }
    }
}
__co__ void in_a_warp(global s32 [128] y, global s32 [1] n) {
  parallel p by 1 : block {
    shared s32 [128] t;
    parallel i by 128 : thread {
      t.at(i) = y.at(i);
      if (i == 0) n.at(0) = 3;
      if (n.at(0) > 1) {
        sync.local;
        y.at(i) = t.at(i / 32 * 32 + 31 - i % 32);
      }
    }
  }
}
";

#[test]
fn is_a_reduction_or_a_vote() {
    for arch in ["sm_80", "sm_90a"] {
        let (Some(kernels), Some(unchecked)) = (
            kernels_of("agreement", AGREEMENT, arch),
            kernels_with(Checks::None, "agreement", AGREEMENT, arch),
        ) else {
            return;
        };
        for (name, instruction) in [
            ("in_a_block_0", "BAR.RED.OR"),
            ("in_a_region_0", "BAR.RED.POPC"),
            ("bounds_in_a_region_0", "BAR.RED.POPC"),
            ("in_a_warp_0", "VOTE.ANY"),
        ] {
            let (code, without) = (&kernels[name], &unchecked[name]);
            assert_eq!(code.count(instruction), 1, "{name} for {arch}: {code:?}");
            assert_eq!(without.count(instruction), 0, "{name} for {arch}");
            // A warp barrier in a branch is a call on sm_80, in all cases.
            for call in ["CALL", "RET"] {
                let more = code.count(call) > without.count(call);
                assert!(!more, "{name} for {arch} has more of {call}: {code:?}");
            }
        }
    }
}
