//! The table and the JSON of `croq tune`.

use std::fmt::Write as _;

use super::candidates::Values;
use super::results::Cost;
use crate::diagnostics::render;

/// One `.co` file.
pub struct FileReport {
    pub file: String,
    /// The number of all combinations.
    pub all: u128,
    /// What was measured, on what.
    pub basis: String,
    pub rows: Vec<Row>,
}

/// One candidate.
pub struct Row {
    pub values: Values,
    pub outcome: RowOutcome,
}

pub enum RowOutcome {
    /// A check, a limit or a C++ compiler rejects it.
    Rejected {
        code: String,
        message: String,
    },
    /// The program did not give a result.
    Failed(String),
    /// Its results differ.
    Wrong(String),
    Measured {
        cost: Cost,
        difference: f64,
    },
}

impl FileReport {
    /// The candidate with the least cost; of several the first.
    pub fn chosen(&self) -> Option<usize> {
        let mut best: Option<(usize, f64)> = None;
        for (at, row) in self.rows.iter().enumerate() {
            let RowOutcome::Measured { cost, .. } = &row.outcome else {
                continue;
            };
            let number = cost.number();
            if best.is_none_or(|(_, least)| number < least) {
                best = Some((at, number));
            }
        }
        best.map(|(at, _)| at)
    }

    /// Whether two candidates have different costs.
    fn differ(&self) -> bool {
        let mut costs = self.rows.iter().filter_map(|row| match &row.outcome {
            RowOutcome::Measured { cost, .. } => Some(cost.number()),
            _ => None,
        });
        let first = costs.next();
        costs.any(|cost| Some(cost) != first)
    }

    /// The candidates from the best to the worst, then those that were not measured.
    fn ranked(&self) -> Vec<(usize, &Row)> {
        let mut rows: Vec<(usize, &Row)> = self.rows.iter().enumerate().collect();
        let key = |row: &Row| match &row.outcome {
            RowOutcome::Measured { cost, .. } => (0, cost.number()),
            RowOutcome::Wrong(_) => (1, 0.0),
            RowOutcome::Failed(_) => (2, 0.0),
            RowOutcome::Rejected { .. } => (3, 0.0),
        };
        // Rows of equal keys keep their order.
        rows.sort_by(|(_, a), (_, b)| {
            let ((kind, cost), (other, more)) = (key(a), key(b));
            kind.cmp(&other).then(cost.total_cmp(&more))
        });
        rows
    }

    /// The table for people.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{}: {} of {} candidates\n",
            self.file,
            self.rows.len(),
            self.all
        );
        if !self.basis.is_empty() {
            let _ = writeln!(text, "  {}", self.basis);
        }
        let chosen = self.chosen();
        let names = self
            .rows
            .first()
            .map(|row| row.values.as_slice())
            .unwrap_or_default();
        let mut lines = vec![
            names
                .iter()
                .map(|(name, _)| name.clone())
                .collect::<Vec<_>>(),
        ];
        if let Some(head) = lines.first_mut() {
            head.push("result".to_owned());
        }
        for (at, row) in self.ranked() {
            let mut cells: Vec<String> = row
                .values
                .iter()
                .map(|(_, value)| value.to_string())
                .collect();
            let mut said = row.outcome.shown();
            if Some(at) == chosen {
                said.push_str(", chosen");
            }
            if at == 0 {
                said.push_str(" (the file's own values)");
            }
            cells.push(said);
            lines.push(cells);
        }
        let columns = names.len();
        let width = |column: usize| {
            lines
                .iter()
                .filter_map(|line| line.get(column))
                .map(String::len)
                .max()
        };
        let widths: Vec<usize> = (0..columns)
            .map(|column| width(column).unwrap_or(0))
            .collect();
        for line in &lines {
            text.push_str("  ");
            for (at, cell) in line.iter().enumerate() {
                let _ = match widths.get(at) {
                    Some(width) => write!(text, "{cell:<width$}  "),
                    None => writeln!(text, "{cell}"),
                };
            }
        }
        if chosen.is_some() && !self.differ() {
            text.push_str("  no candidate is better than another; the first one is kept\n");
        }
        let left = self.all.saturating_sub(self.rows.len() as u128);
        if left > 0 {
            let _ = writeln!(
                text,
                "  {left} candidates were not tried: `--limit` sets how many are"
            );
        }
        text
    }

    pub fn json(&self) -> String {
        let chosen = self.chosen();
        let rows = self.rows.iter().enumerate().map(|(at, row)| {
            format!(
                "{{\"values\":{},{}}}",
                object(&row.values),
                row.outcome.json(Some(at) == chosen)
            )
        });
        let rows: Vec<String> = rows.collect();
        let values = chosen
            .and_then(|at| self.rows.get(at))
            .map(|row| object(&row.values));
        format!(
            "{{\"file\":{},\"combinations\":{},\"basis\":{},\"is_time\":{},\"candidates\":[{}],\"chosen\":{}}}",
            string(&self.file),
            self.all,
            string(&self.basis),
            self.is_time(),
            rows.join(","),
            values.unwrap_or_else(|| "null".to_owned()),
        )
    }

    fn is_time(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| matches!(&row.outcome, RowOutcome::Measured { cost, .. } if cost.is_time()))
    }
}

impl RowOutcome {
    fn shown(&self) -> String {
        match self {
            Self::Rejected { code, message } => format!("{code}: {message}"),
            Self::Failed(why) => format!("failed: {why}"),
            Self::Wrong(why) => format!("WRONG: {why}"),
            Self::Measured { cost, difference } => {
                let mut said = match cost {
                    Cost::Time(time) => format!("{:.2} µs", *time as f64 / 1000.0),
                    Cost::Counts(counts) => format!(
                        "{:.0} clocks: {} instructions, {} sectors, {} wavefronts",
                        counts.clocks(),
                        counts.instructions,
                        counts.sectors,
                        counts.wavefronts
                    ),
                    Cost::Wavefronts(count) => format!("{count} wavefronts"),
                };
                if *difference > 0.0 {
                    let _ = write!(said, ", differs by {difference:.1e}");
                }
                said
            }
        }
    }

    /// Members of a JSON object.
    fn json(&self, chosen: bool) -> String {
        match self {
            Self::Rejected { code, message } => format!(
                "\"status\":\"rejected\",\"code\":{},\"message\":{}",
                string(code),
                string(message)
            ),
            Self::Failed(why) => format!("\"status\":\"failed\",\"message\":{}", string(why)),
            Self::Wrong(why) => format!("\"status\":\"wrong\",\"message\":{}", string(why)),
            Self::Measured { cost, difference } => {
                let status = if chosen { "chosen" } else { "measured" };
                let cost = match cost {
                    Cost::Time(time) => format!("\"nanoseconds\":{time}"),
                    Cost::Counts(counts) => format!(
                        "\"clocks\":{:.1},\"instructions\":{},\"sectors\":{},\"wavefronts\":{}",
                        counts.clocks(),
                        counts.instructions,
                        counts.sectors,
                        counts.wavefronts
                    ),
                    Cost::Wavefronts(count) => format!("\"wavefronts\":{count}"),
                };
                format!("\"status\":\"{status}\",{cost},\"difference\":{difference:e}")
            }
        }
    }
}

fn string(text: &str) -> String {
    let mut out = String::new();
    render::quote(&mut out, text);
    out
}

fn object(values: &Values) -> String {
    let members = values
        .iter()
        .map(|(name, value)| format!("{}:{value}", string(name)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}
