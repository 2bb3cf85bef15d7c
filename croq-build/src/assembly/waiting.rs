//! Barriers, fences, and what the simulated GPU has no use for.

use super::instruction::Scope;
use super::program::Operand;
use super::types::B32;

/// Barriers, fences, and what the simulated GPU has no use for.
pub fn waiting(i: &Scope<'_>) -> Option<String> {
    let name = i.instruction.name.join(".");
    let rest = name.split_once('.').map_or("", |(_, rest)| rest);
    match i.base() {
        "bar" | "barrier" => barrier(i, rest),
        "membar" | "fence" => fence(i, rest),
        "nanosleep" if rest == "u32" => {
            i.with_count(1)?;
            let time = i.value(0, B32)?;
            Some(format!("__nanosleep({time});"))
        }
        "griddepcontrol" if matches!(rest, "wait" | "launch_dependents") => {
            i.with_count(0)?;
            Some(";".to_owned())
        }
        "prefetch" | "prefetchu" => {
            i.only(&[
                "global",
                "local",
                "L1",
                "L2",
                "L2::evict_last",
                "L2::evict_normal",
                "tensormap",
                "param",
                "const",
            ])?;
            i.with_count(1)?;
            matches!(i.operand(0)?, Operand::Address(_)).then(|| ";".to_owned())
        }
        "setmaxnreg" => {
            let way = match rest {
                "inc.sync.aligned.u32" => "up",
                "dec.sync.aligned.u32" => "down",
                _ => return None,
            };
            i.with_count(1)?;
            let number = match i.operand(0)? {
                Operand::Integer(number) => number.to_string(),
                other => i.place(other)?,
            };
            Some(format!(
                "croq::set_max_registers_{way}<static_cast<unsigned>({number})>();"
            ))
        }
        "trap" if rest.is_empty() => {
            i.with_count(0)?;
            Some("__trap();".to_owned())
        }
        _ => None,
    }
}

fn barrier(i: &Scope<'_>, rest: &str) -> Option<String> {
    let value = |at: usize| i.value(at, B32);
    match (rest, i.count()) {
        ("warp.sync", 1) => Some(format!("__syncwarp({});", value(0)?)),
        ("sync" | "sync.aligned" | "cta.sync" | "cta.sync.aligned", 1) => {
            Some(format!("croq::ptx_barrier({});", value(0)?))
        }
        ("sync" | "sync.aligned" | "cta.sync" | "cta.sync.aligned", 2) => Some(format!(
            "croq::barrier_named({}, {});",
            value(0)?,
            value(1)?
        )),
        ("arrive" | "arrive.aligned" | "cta.arrive" | "cta.arrive.aligned", 2) => Some(format!(
            "croq::barrier_arrive({}, {});",
            value(0)?,
            value(1)?
        )),
        _ => None,
    }
}

fn fence(i: &Scope<'_>, rest: &str) -> Option<String> {
    i.with_count(0)?;
    let call = match rest {
        "cta" | "sc.cta" | "acq_rel.cta" => "croq::fence_block()",
        "gl" | "sys" | "gpu" | "cluster" | "sc.gpu" | "sc.sys" | "sc.cluster" | "acq_rel.gpu"
        | "acq_rel.sys" | "acq_rel.cluster" => "croq::fence_device()",
        "proxy.async" | "proxy.async.shared::cta" => "croq::fence_proxy_async()",
        "proxy.async.global" => "croq::fence_proxy_async_everywhere()",
        "mbarrier_init.release.cluster" => "croq::fence_mbarrier_init()",
        _ => return None,
    };
    Some(format!("{call};"))
}
